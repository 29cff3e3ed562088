import { expect, it } from "vitest";
import { upOptions } from "../commands/up.ts";
import { agentTimesFrom, membersOptions } from "../commands/members.ts";
import { agentFlags } from "../members/member-agent.ts";
import { type OptionDefinition, resolveOptions } from "../options.ts";
import { Settings } from "../settings.ts";
import { electionFrom, managerOptions, shareFrom } from "./manager-options.ts";

const settings = (flags: Readonly<Record<string, string | boolean>>): Settings =>
  new Settings(resolveOptions(managerOptions, { flags, environment: {}, file: {} }));

it("elects by the times and the Lease that the field knows", () => {
  expect(electionFrom(settings({}))).toEqual({
    lease: { namespace: "lifeboat-system", name: "lifeboat-manager" },
    leaseDurationMs: 15_000,
    renewDeadlineMs: 10_000,
    retryPeriodMs: 2000,
  });
});

it("elects nothing where it is switched off", () => {
  expect(electionFrom(settings({ "leader-elect": "false" }))).toBeUndefined();
  expect(electionFrom(settings({ "leader-elect": true }))).toBeDefined();
});

it.each<[Readonly<Record<string, string>>, string]>([
  [{ "leader-elect-renew-deadline": "15s" }, "must be shorter than --leader-elect-lease-duration"],
  [{ "leader-elect-retry-period": "9s" }, "must be shorter than --leader-elect-renew-deadline"],
])("refuses times that let two replicas lead, or none: %j", (flags, message) => {
  expect(() => electionFrom(settings(flags))).toThrow(message);
});

it("shares out members only where it is asked to, by the times of the election", () => {
  const share = (flags: Readonly<Record<string, string | boolean>>) =>
    shareFrom(settings(flags), electionFrom(settings(flags)));
  expect(share({})).toBeUndefined();
  expect(share({ "share-members": true })).toEqual({
    leaseDurationMs: 15_000,
    renewDeadlineMs: 10_000,
    retryPeriodMs: 2000,
  });
  expect(() => share({ "share-members": true, "leader-elect": "false" })).toThrow(
    "--share-members needs --leader-elect",
  );
});

it("takes the flags of agents' Leases, which a command line of the field may hold", () => {
  const given = {
    "cluster-lease-duration": "20s",
    "cluster-lease-renew-interval-fraction": "0.5",
  };
  expect(electionFrom(settings(given))).toEqual(electionFrom(settings({})));
  expect(() => settings({ "cluster-lease-duration": "soon" })).toThrow("cluster-lease-duration");
  // `up` hands them to the agents that it starts.
  const ofMembers = new Settings(
    resolveOptions(membersOptions, {
      flags: { ...given, "member-mode": "pull" },
      environment: {},
      file: {},
    }),
  );
  expect(agentFlags(oneOf(agentTimesFrom(ofMembers).agents))).toMatchObject({
    "cluster-lease-duration": "20000ms",
    "cluster-lease-renew-interval-fraction": "0.5",
  });
});

function oneOf<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("these members have agents");
  return value;
}

/** Flags of `up` that have no meaning beside a kube-apiserver, by the reason. Whatever else `up` gets, a manager gets too. */
const OF_UP_ALONE: Readonly<Record<string, readonly string[]>> = {
  "that of the kube-apiserver itself, or of etcd": [
    "advertise",
    "audit-log-maxage",
    "audit-log-maxbackup",
    "audit-log-maxsize",
    "audit-log-mode",
    "audit-log-path",
    "audit-policy-file",
    "data-dir",
    "encrypt-resources",
    "encryption-key-file",
    "listen",
    "oidc-ca-file",
    "oidc-client-id",
    "oidc-groups-claim",
    "oidc-groups-prefix",
    "oidc-issuer-url",
    "oidc-required-claim",
    "oidc-signing-algs",
    "oidc-username-claim",
    "oidc-username-prefix",
    "restored",
    "token-auth-file",
  ],
  "a manager makes no kubeconfig": ["kubeconfig-dir"],
  "simulated members are a process of their own there (`lifeboat members`)": [
    "member-mode",
    "member-nodes",
    "member-start-delay",
    "members",
    "serve-http",
  ],
};
const OF_MANAGER_ALONE: Readonly<Record<string, readonly string[]>> = {
  "the way to the kube-apiserver": ["kubeconfig", "context"],
  "`up` is one process": [
    "leader-elect",
    "leader-elect-lease-duration",
    "leader-elect-renew-deadline",
    "leader-elect-resource-name",
    "leader-elect-resource-namespace",
    "leader-elect-retry-period",
    "share-members",
    "advertise-address",
  ],
  "`up` serves all of it at --listen": ["webhook-listen", "health-listen", "member-proxy"],
  "`up` always can": ["registration"],
};

it("has every flag of `up`, but those of a server and of simulated members, with the same meaning", () => {
  const names = (reasons: Readonly<Record<string, readonly string[]>>): readonly string[] =>
    Object.values(reasons).flat().toSorted();
  const missing = (from: readonly OptionDefinition[], to: readonly OptionDefinition[]) =>
    from.map(({ name }) => name).filter((name) => to.every((one) => one.name !== name));
  expect(missing(upOptions, managerOptions).toSorted()).toEqual(names(OF_UP_ALONE));
  expect(missing(managerOptions, upOptions).toSorted()).toEqual(names(OF_MANAGER_ALONE));
  for (const { help: _help, ...option } of managerOptions) {
    const same = upOptions.find(({ name }) => name === option.name);
    if (same === undefined) continue;
    const { help: _other, ...ofUp } = same;
    expect(option).toEqual(ofUp);
  }
});
