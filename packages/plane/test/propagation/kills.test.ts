/** A few lives; many are in kills.fuzz.test.ts. */
import { livesAndDies } from "./kills.suite.ts";

livesAndDies(3, 3);
