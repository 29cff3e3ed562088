import { test } from "vitest";
import { checkStoreModel } from "./store-model.suite.ts";

test("the store keeps its promises in random histories with crashes", () => checkStoreModel(150));
