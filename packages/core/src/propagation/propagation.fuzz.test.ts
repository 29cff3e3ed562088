import { describePropagation } from "./propagation-model.suite.ts";

describePropagation(10_000);
