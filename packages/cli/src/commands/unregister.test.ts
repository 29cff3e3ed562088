/** What `unregister --force` leaves in a member that it does not reach is listed. */
import { expect, it } from "vitest";
import { leftUnseen } from "./unregister.ts";

it.each([
  [
    "by force, with Works",
    true,
    [/^its agent, whose identity is refused/, /^what the control plane placed in it/],
  ],
  ["with nothing on it", false, [/^its agent.*lifeboat unregister eu-1 --from-member/]],
])("a cluster that left %s leaves what is listed", (_name, hadWorks, expected) => {
  const left = leftUnseen("eu-1", hadWorks);
  expect(left).toEqual(expected.map((one) => expect.stringMatching(one) as string));
});
