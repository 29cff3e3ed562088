/**
 * The Metrics port on prom-client, with a registry of its own.
 *
 * Declaring the same series twice answers the same series, so that ten controllers can share one family; declaring
 * one name with another kind, other labels or other buckets is a bug and throws.
 */
import { assert } from "@lifeboat/base";
import * as prom from "prom-client";
import type { Counter, Gauge, Histogram, MetricDefinition, Metrics } from "../metrics.ts";

/** What identifies a declaration, to distinguish a repetition from a mistake. */
interface Declared {
  readonly shape: string;
  readonly metric: Counter | Gauge | Histogram;
}

/** Metrics that `expose` answers in the Prometheus text format. */
export function createPromMetrics(): Metrics {
  const registry = new prom.Registry();
  const declared = new Map<string, Declared>();
  const forgetters: ((label: string, value: string) => void)[] = [];

  function declare<M extends Counter | Gauge | Histogram>(
    kind: string,
    definition: MetricDefinition,
    make: () => M,
  ): M {
    const shape = JSON.stringify([kind, definition.labels ?? [], definition.buckets ?? []]);
    const known = declared.get(definition.name);
    if (known === undefined) {
      const metric = make();
      declared.set(definition.name, { shape, metric });
      return metric;
    }
    assert(known.shape === shape, "a metric is declared in two ways", {
      name: definition.name,
      first: known.shape,
      second: shape,
    });
    return known.metric as M;
  }

  return {
    counter: (definition) =>
      declare("counter", definition, () => {
        const counter = new prom.Counter(settings(definition, registry));
        if (isPlain(definition)) counter.inc(0);
        const series = new Map<string, Readonly<Record<string, string>>>();
        forgetters.push((label, value) => {
          for (const [key, labels] of series) {
            if (labels[label] !== value) continue;
            series.delete(key);
            counter.remove(labels);
          }
        });
        return {
          add: (amount, labels) => {
            counter.inc(labels, amount);
            if (!isPlain(definition)) series.set(JSON.stringify(labels), labels);
          },
        };
      }),
    gauge: (definition) =>
      declare("gauge", definition, () => {
        const gauge = new prom.Gauge(settings(definition, registry));
        return {
          set: (value, labels) => gauge.set(labels, value),
          remove: (labels) => gauge.remove(labels),
        };
      }),
    histogram: (definition) =>
      declare("histogram", definition, () => {
        const buckets =
          definition.buckets === undefined ? {} : { buckets: [...definition.buckets] };
        const histogram = new prom.Histogram({ ...settings(definition, registry), ...buckets });
        return {
          observe: (value, labels) => histogram.observe(labels, value),
          remove: (labels) => histogram.remove(labels),
        };
      }),
    forget: (label, value) => {
      for (const forget of forgetters) forget(label, value);
    },
    expose: () => registry.metrics(),
  };
}

function isPlain(definition: MetricDefinition): boolean {
  return definition.labels === undefined || definition.labels.length === 0;
}

function settings(definition: MetricDefinition, registry: prom.Registry) {
  return {
    name: definition.name,
    help: definition.help,
    labelNames: [...(definition.labels ?? [])],
    registers: [registry],
  };
}
