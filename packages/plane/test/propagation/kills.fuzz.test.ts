/** Many lives of the control plane; see kills.suite.ts. */
import { livesAndDies } from "./kills.suite.ts";

livesAndDies(12, 20_261_116);
