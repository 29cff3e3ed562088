/**
 * A client of the control plane that reports when its user is refused because the cluster left.
 *
 * The identity of an agent counts no longer from the moment that its cluster has left. An agent that did not receive the deletion
 * of its Cluster before, because its connection was lost, could not read it afterwards, and would be refused for ever.
 * Watches are passed on as they are: after one that is refused an informer lists.
 */
import { isRefusedBecause } from "@lifeboat/api";
import { CLUSTER_LEFT } from "@lifeboat/core/clusters/certificates";
import type { Client } from "@lifeboat/kit";

export function reportingClusterLeft(client: Client, onLeft: () => void): Client {
  const noting = async <T>(asked: Promise<T>): Promise<T> => {
    try {
      return await asked;
    } catch (error) {
      if (isClusterLeft(error)) onLeft();
      throw error;
    }
  };
  return {
    watch: (...given) => client.watch(...given),
    get: (...given) => noting(client.get(...given)),
    list: (...given) => noting(client.list(...given)),
    read: (...given) => noting(client.read(...given)),
    create: (...given) => noting(client.create(...given)),
    update: (...given) => noting(client.update(...given)),
    patch: (...given) => noting(client.patch(...given)),
    delete: (...given) => noting(client.delete(...given)),
    deleteCollection: (...given) => noting(client.deleteCollection(...given)),
  };
}

export function isClusterLeft(error: unknown): boolean {
  return isRefusedBecause(error, CLUSTER_LEFT);
}
