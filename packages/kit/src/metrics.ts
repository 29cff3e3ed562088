/** The Metrics port: Prometheus' three kinds of series, declared in a `metrics.ts` beside their owner. */
export interface MetricDefinition<Label extends string = string> {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly Label[];
  /** Histograms only: upper bounds, ascending. */
  readonly buckets?: readonly number[];
}

export type Labels<Label extends string> = Readonly<Record<Label, string>>;

export interface Counter<Label extends string = string> {
  add(amount: number, labels: Labels<Label>): void;
}

export interface Gauge<Label extends string = string> {
  set(value: number, labels: Labels<Label>): void;
  /** Ends the series with these labels. */
  remove(labels: Labels<Label>): void;
}

export interface Histogram<Label extends string = string> {
  observe(value: number, labels: Labels<Label>): void;
  /** Ends the series with these labels. */
  remove(labels: Labels<Label>): void;
}

export interface Metrics {
  counter<Label extends string = never>(definition: MetricDefinition<Label>): Counter<Label>;
  gauge<Label extends string = never>(definition: MetricDefinition<Label>): Gauge<Label>;
  histogram<Label extends string = never>(definition: MetricDefinition<Label>): Histogram<Label>;
  /** Ends the series of all counters whose label has this value, such as those of a cluster that left. */
  forget(label: string, value: string): void;
  /** The text exposition format. */
  expose(): Promise<string>;
}

/** Metrics that are not kept, for tests. */
export const silentMetrics: Metrics = Object.freeze({
  counter: () => ({ add: () => undefined }),
  gauge: () => ({ set: () => undefined, remove: () => undefined }),
  histogram: () => ({ observe: () => undefined, remove: () => undefined }),
  forget: () => undefined,
  expose: () => Promise.resolve(""),
});
