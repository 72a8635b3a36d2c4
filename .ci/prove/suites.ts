import type { NamedPart } from '../../test/prove/promises.ts';

interface SuiteOfDebian {
  packages: string[];
  /** Without those that need an S3 service, too; MySQL is that of Debian's unstable suite anyway. */
  parts: RegExp;
}

const NEWER = /^(kills|data|limits|subsets|instant|personal)\/.*\b(postgres|mariadb)$/;

/** Suites of Debian with other versions than this machine's. */
export const SUITES = {
  // Its psql is too old for loads in place, its MariaDB for subsets.
  bullseye: { packages: ['postgresql-13', 'procps'], parts: /^(data|subsets|instant|personal)\/.*\bpostgres$/ },
  trixie: { packages: ['postgresql-17', 'mariadb-server', 'procps'], parts: NEWER },
  sid: { packages: ['postgresql-18', 'mariadb-server', 'procps'], parts: NEWER },
} satisfies Record<string, SuiteOfDebian>;

export type Suite = keyof typeof SUITES;

export function isSuite(name: string): name is Suite {
  return Object.hasOwn(SUITES, name);
}

export function isTriedIn(suite: Suite, { name }: NamedPart): boolean {
  return SUITES[suite].parts.test(name);
}
