import { test } from "vitest";
import { checkStoreModel } from "./store-model.suite.ts";

test("the store keeps its promises in ten thousand random histories with crashes", () =>
  checkStoreModel(10_000));
