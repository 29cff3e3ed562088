import { describe } from "vitest";
import { schemaProperties } from "./schema-properties.suite.ts";

describe("schemas of custom resources, many", () => schemaProperties(20_000));
