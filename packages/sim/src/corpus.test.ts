/** Every promise holds in scenarios that once broke one; for ten minutes of rest they are run in net.fuzz.test.ts. */
import { it } from "vitest";
import { corpusFiles, corpusKeeps } from "./net.suite.ts";

it.each(corpusFiles)("every promise holds in %s", (file) => corpusKeeps(file, { quietMs: 60_000 }));
