/** What every controller of the control plane is built from. Constructing starts nothing. */
import type { Ids, SteadyTime } from "@lifeboat/base";
import type { Hmac } from "@lifeboat/core/clusters/bootstrap-tokens";
import type { Client, EventRecorder, KitPorts, RequestReader, Signer } from "@lifeboat/kit";
import type { PlaneFleetView } from "./fleet-view.ts";
import type { PlaneInformers } from "./informers.ts";
import type { Interpretation } from "./interpretation.ts";
import type { MemberConnections } from "./member-connections.ts";
import type { MemberShares } from "./member-shares.ts";
import type { TargetRoom } from "./target-room.ts";
import type { Templates } from "./templates.ts";

/** How clusters register by a token. */
export interface TokenRegistration {
  /**
   * Reads certificate requests, which are approved or denied by what they ask for. One that also signs signs what is approved;
   * otherwise another process does (kube-controller-manager). Absent: requests stay without an answer.
   */
  readonly signer?: RequestReader | Signer;
  /** Signs cluster-info by the secret parts of stored tokens; absent: admission has signed and stores none. */
  readonly hmac?: Hmac;
}

export interface PlaneContext extends KitPorts {
  readonly ids: Ids;
  /** How long ago is what was written down: every wait that must not be cut short by the clock is asked of it. */
  readonly time: SteadyTime;
  /** The control plane's API, embedded or real. */
  readonly plane: Client;
  readonly events: EventRecorder;
  readonly informers: PlaneInformers;
  /** The clusters, for placements. */
  readonly fleetView: PlaneFleetView;
  /** What is left on them for workloads that leave a cluster or return to one. */
  readonly targetRoom: TargetRoom;
  readonly templates: Templates;
  readonly connections: MemberConnections;
  readonly interpretation: Interpretation;
  /** Which members this replica works on; absent: on all of them. */
  readonly shares?: MemberShares;
  /** Absent: no cluster registers here, and tokens are looked after by others. */
  readonly registration?: TokenRegistration;
}
