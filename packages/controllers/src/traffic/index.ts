export { createTrafficBackends } from "./backends/create-backends.ts";
