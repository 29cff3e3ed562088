/** Whether people are reached. */
import type { MetricDefinition } from "@lifeboat/kit";

export const noticeAttempts: MetricDefinition<"outcome"> = {
  name: "lifeboat_notification_attempts_total",
  help: "Attempts to deliver a notice to the webhook of --notify-url, by outcome: Delivered, Retry, Rejected, Expired.",
  labels: ["outcome"],
};
export const noticeFailing: MetricDefinition = {
  name: "lifeboat_notification_failing_seconds",
  help: "How long the next notice could not be delivered at its last attempt; 0: the last one was delivered. Absent while notices are off.",
};
