import { test } from "vitest";
import { checkInformer } from "./informer-model.suite.ts";

test("whatever fails, handlers hear a consistent story and the copy catches up", () =>
  checkInformer(100));
