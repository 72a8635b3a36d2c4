import type { NamedPart } from '../../test/prove/promises.ts';

/** Suites of Debian with other versions than this machine's, and what is installed of them. */
export const SUITES = {
  bullseye: ['postgresql-13', 'mariadb-server', 'procps'],
  trixie: ['postgresql-17', 'mariadb-server', 'procps'],
  sid: ['postgresql-18', 'mariadb-server', 'procps'],
} as const;

export type Suite = keyof typeof SUITES;

/** Without those that need an S3 service, too. */
const PROMISES = /^(kills|data|limits|subsets|instant|personal)\//;

/** Those whose server is of the suite; MySQL is Debian's unstable one anyway. */
export function isTriedInSuites({ name }: NamedPart): boolean {
  return PROMISES.test(name) && /\b(postgres|mariadb)$/.test(name);
}
