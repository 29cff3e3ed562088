/**
 * Which addresses of backends are never dialled (T6). Members report them, and a client of the load balancer gets the answer: a
 * member that lies must not lead requests to what gives credentials to machines. Loopback is where simulated members serve.
 */
import { judgeAddressBy } from "@lifeboat/kit";

export const judgeBackend = judgeAddressBy({ allowsLoopback: true });
