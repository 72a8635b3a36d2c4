/** A suite that tries a promise in rounds, each repeatable by its seed. */
export interface Part {
  file: string;
  /** For the table of docs/proof.md. */
  method: string;
  /** Rounds in `npm test`. */
  sample: number;
  /** Rounds in `npm run test:full`. */
  full: number;
  /** Rounds in `npm run prove`. */
  rounds: number;
  /** A round that takes longer has failed. */
  seconds?: number;
}

interface KeptPromise {
  promise: string;
  parts: Record<string, Part>;
}

/** The promises of the program: what `npm test` samples and `npm run prove` tries at length, with the same code. */
export const PROMISES = {
  configurations: {
    promise: 'A configuration never causes a crash',
    parts: {
      files: {
        file: 'test/config/fuzz.test.ts',
        method: 'mutated configuration files and environments',
        sample: 1500,
        full: 10_000,
        rounds: 10_000,
      },
      manifests: {
        file: 'test/hostile/fuzz.test.ts',
        method: 'mutated manifests',
        sample: 100,
        full: 3334,
        rounds: 3334,
      },
      archives: {
        file: 'test/hostile/fuzz.test.ts',
        method: 'mutated archives of exported snapshots',
        sample: 100,
        full: 3334,
        rounds: 3334,
      },
      objects: {
        file: 'test/hostile/fuzz.test.ts',
        method: 'mutated objects',
        sample: 100,
        full: 3334,
        rounds: 3334,
      },
    },
  },
} as const satisfies Record<string, KeptPromise>;

type Promises = typeof PROMISES;
/** As in `kills/load-postgres`. */
export type PartName = {
  [Name in keyof Promises]: `${Name}/${keyof Promises[Name]['parts'] & string}`;
}[keyof Promises];

export interface NamedPart extends Part {
  name: PartName;
  promise: string;
}

export const PARTS: NamedPart[] = Object.entries<KeptPromise>(PROMISES).flatMap(([name, { promise, parts }]) =>
  Object.entries(parts).map(([part, what]) => ({ ...what, name: `${name}/${part}` as PartName, promise })),
);
