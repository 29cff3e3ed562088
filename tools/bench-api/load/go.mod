module lifeboat.dev/tools/bench-api/load

go 1.26.0
