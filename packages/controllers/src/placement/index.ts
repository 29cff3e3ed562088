export {
  createScheduler,
  type Estimator,
  type SchedulerOptions,
} from "./scheduler/create-scheduler.ts";
export { createWorkloadRebalancer } from "./workload-rebalancer/create-workload-rebalancer.ts";
