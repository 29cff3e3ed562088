import { describe, expect, it } from "vitest";
import { scheduleProblem } from "./cron-schedule.ts";

describe("scheduleProblem", () => {
  it.each([
    "* * * * *",
    "*/15 0 1,15 * 1-5",
    "5/10 * * * *",
    "0 0 ? JAN-Mar sun,SAT",
    "@hourly",
    "@every 90m",
    "TZ=UTC 0 0 * * *",
  ])("accepts %s", (schedule) => {
    expect(scheduleProblem(schedule)).toBeUndefined();
  });

  it.each([
    { schedule: "", want: "expected exactly 5 fields, found 0: []" },
    { schedule: "60 * * * *", want: "end of range (60) above maximum (59): 60" },
    { schedule: "* 24 * * *", want: "end of range (24) above maximum (23): 24" },
    { schedule: "* * * 13 *", want: "end of range (13) above maximum (12): 13" },
    {
      schedule: "* * * * mon-",
      want: 'failed to parse int from : strconv.Atoi: parsing "": invalid syntax',
    },
    {
      schedule: "-1 * * * *",
      want: 'failed to parse int from : strconv.Atoi: parsing "": invalid syntax',
    },
    { schedule: "@every", want: "unrecognized descriptor: @every" },
    { schedule: "CRON_TZ=UTC", want: "expected exactly 5 fields, found 0: []" },
  ])("refuses $schedule", ({ schedule, want }) => {
    expect(scheduleProblem(schedule)).toBe(want);
  });

  it("does not look at enormous schedules", () => {
    expect(scheduleProblem("*,".repeat(100_000))).toBe("expected at most 4096 characters");
  });
});
