import { test } from "vitest";
import { checkWorkQueue } from "./work-queue-model.suite.ts";

test("no key is held twice at once, and every key asked for is handed out after its last ask", () =>
  checkWorkQueue(150));
