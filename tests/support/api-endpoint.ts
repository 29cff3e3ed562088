/** A running API server as tests address it, ours or a real one. */
export interface ApiEndpoint {
  readonly url: string;
  /** Full rights. */
  readonly kubeconfig: string;
  stop(): Promise<void>;
}
