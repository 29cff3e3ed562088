import { describe } from "vitest";
import { schemaProperties } from "./schema-properties.suite.ts";

describe("schemas of custom resources", () => schemaProperties(200));
