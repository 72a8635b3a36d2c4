/** A suite that tries a promise in rounds, each repeatable by its seed. */
export interface Part {
  file: string;
  /** For the table of test/prove/journal.md. */
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

const KILLED = 'at random moments of build, load, in-place load, table load, undo, reset, sanitize and subset';

const FAULTS =
  'cut connections, lost answers, delays, 500, 503, 429, flipped bytes, truncated answers, false lengths, reordered lists';

/** The promises of the program: what `npm test` samples and `npm run prove` tries at length, with the same code. */
export const PROMISES = {
  kills: {
    promise: 'A killed operation leaves destination and snapshots old or new',
    parts: {
      postgres: {
        file: 'test/prove/kills.full.test.ts',
        method: `kill -9 of the group, the program (also of its launcher under an old Node), a child, a session or the server, ${KILLED} on PostgreSQL`,
        sample: 0,
        full: 30,
        rounds: 300,
      },
      mariadb: {
        file: 'test/prove/kills.full.test.ts',
        method: `the same on MariaDB`,
        sample: 0,
        full: 30,
        rounds: 220,
      },
      mysql: {
        file: 'test/prove/kills.full.test.ts',
        method: `the same on MySQL`,
        sample: 0,
        full: 10,
        rounds: 100,
      },
      'launcher-postgres': {
        file: 'test/prove/statements.full.test.ts',
        method:
          "kill -9 of the launcher, of the program or of both, as the system's old Node starts them, when a statement of a load, undo, reset, sanitize, subset or operation of branches comes, on PostgreSQL",
        sample: 0,
        full: 0,
        rounds: 300,
      },
      'launcher-mariadb': {
        file: 'test/prove/statements.full.test.ts',
        method: 'the same on MariaDB',
        sample: 0,
        full: 0,
        rounds: 400,
      },
      'launcher-mysql': {
        file: 'test/prove/statements.full.test.ts',
        method: 'the same on MySQL',
        sample: 0,
        full: 0,
        rounds: 300,
      },
      differences: {
        file: 'test/prove/differences.full.test.ts',
        method:
          'the same of loads by rows from a base copy, and of a reset and a branch from the base copy that they leave; then reset, undo, branch and the next load by rows, on PostgreSQL',
        sample: 0,
        full: 0,
        rounds: 300,
      },
      storage: {
        file: 'test/prove/storage-kills.full.test.ts',
        method:
          'kill -9 of the group at random moments of push, pull, prune, rm, import and export on a real S3 service',
        sample: 0,
        full: 20,
        rounds: 100,
      },
      'load-postgres': {
        file: 'test/operations/load/load-killed.test.ts',
        method: 'kill -9 of the group, evenly spread over a load on PostgreSQL',
        sample: 4,
        full: 30,
        rounds: 60,
      },
      'load-mariadb': {
        file: 'test/operations/load/load-killed.test.ts',
        method: 'the same on MariaDB',
        sample: 2,
        full: 30,
        rounds: 60,
      },
      'load-mysql': {
        file: 'test/operations/load/load-killed.test.ts',
        method: 'the same on MySQL',
        sample: 0,
        full: 30,
        rounds: 30,
      },
      'difference-postgres': {
        file: 'test/operations/load/difference-killed.full.test.ts',
        method: 'kill -9 of the group, evenly spread over loads of the differences from a base copy, on PostgreSQL',
        sample: 0,
        full: 20,
        rounds: 40,
      },
      'reset-postgres': {
        file: 'test/operations/load/reset-killed.full.test.ts',
        method:
          'kill -9 of the group, evenly spread over resets, resets with a spare and loads that keep a base copy, on PostgreSQL',
        sample: 2,
        full: 30,
        rounds: 60,
      },
      'reset-mariadb': {
        file: 'test/operations/load/reset-killed.full.test.ts',
        method: 'the same on MariaDB',
        sample: 0,
        full: 21,
        rounds: 60,
      },
      'reset-mysql': {
        file: 'test/operations/load/reset-killed.full.test.ts',
        method: 'the same on MySQL',
        sample: 0,
        full: 21,
        rounds: 30,
      },
      'branches-postgres': {
        file: 'test/operations/branch/branch-killed.full.test.ts',
        method: 'kill -9 of the group, evenly spread over creations, resets and switches of branches, on PostgreSQL',
        sample: 2,
        full: 24,
        rounds: 60,
      },
      'branches-mariadb': {
        file: 'test/operations/branch/branch-killed.full.test.ts',
        method: 'the same on MariaDB',
        sample: 0,
        full: 24,
        rounds: 60,
      },
      'branches-mysql': {
        file: 'test/operations/branch/branch-killed.full.test.ts',
        method: 'the same on MySQL',
        sample: 0,
        full: 12,
        rounds: 30,
      },
      'swap-mariadb': {
        file: 'test/engines/mysql/swap/swap-killed.full.test.ts',
        method: 'kill -9 within the swap of tables, views and programs on MariaDB',
        sample: 0,
        full: 30,
        rounds: 60,
      },
      'swap-mysql': {
        file: 'test/engines/mysql/swap/swap-killed.full.test.ts',
        method: 'the same on MySQL',
        sample: 0,
        full: 30,
        rounds: 30,
      },
      'row-swap-mariadb': {
        file: 'test/engines/mysql/swap/swap-killed.full.test.ts',
        method: 'kill -9 within the exchange of rows of many tables on MariaDB',
        sample: 0,
        full: 30,
        rounds: 60,
      },
      'row-swap-mysql': {
        file: 'test/engines/mysql/swap/swap-killed.full.test.ts',
        method: 'the same on MySQL',
        sample: 0,
        full: 30,
        rounds: 30,
      },
    },
  },
  data: {
    promise: 'The loaded data equals the source data',
    parts: {
      postgres: {
        file: 'test/prove/equal-data.full.test.ts',
        method:
          'random schemas and values of every type, compared by pg_dump and checksums of the server, on PostgreSQL',
        sample: 0,
        full: 100,
        rounds: 2000,
      },
      'difference-rows': {
        file: 'test/prove/difference-rows.full.test.ts',
        method:
          'pairs of snapshots with random tables, keys and changes (moved rows, equal keys of other text, no key, partitions, foreign keys, triggers), the second loaded from the base copy of the first: equal to a full load by pg_dump, checksums and amcheck, on PostgreSQL',
        sample: 0,
        full: 40,
        rounds: 1000,
      },
      'rows-mariadb': {
        file: 'test/prove/mysql-rows.full.test.ts',
        method:
          'pairs of snapshots with random tables, keys and changes (equal keys of other text, equal rows, no key, new columns, triggers), the second loaded from the base copy of the first, then changed and reset: equal to a full load by dump, on MariaDB',
        sample: 0,
        full: 20,
        rounds: 1000,
      },
      'rows-mysql': {
        file: 'test/prove/mysql-rows.full.test.ts',
        method:
          'pairs of snapshots with random tables, keys and changes (equal keys of other text, equal rows, no key, new columns, triggers), the second loaded from the base copy of the first, then changed and reset: equal to a full load by dump, on MySQL',
        sample: 0,
        full: 20,
        rounds: 300,
      },
      mariadb: {
        file: 'test/prove/equal-data.full.test.ts',
        method: 'the same by mariadb-dump on MariaDB',
        sample: 0,
        full: 100,
        rounds: 2000,
      },
      mysql: {
        file: 'test/prove/equal-data.full.test.ts',
        method: 'the same by mysqldump on MySQL',
        sample: 0,
        full: 40,
        rounds: 500,
      },
      'mysql-defaults': {
        file: 'test/prove/equal-data.full.test.ts',
        method:
          'the same on MySQL with the defaults of a fresh server (binary log, GTID, no time zones), with triggers and tables without transactions; then the copy of the copy, loaded twice',
        sample: 0,
        full: 40,
        rounds: 500,
      },
      'names-postgres': {
        file: 'test/hostile/postgres/random-names.full.test.ts',
        method: 'names of random bytes for objects of every kind, built, loaded, subset and sanitized, on PostgreSQL',
        sample: 3,
        full: 30,
        rounds: 200,
      },
      'names-mariadb': {
        file: 'test/hostile/mysql/random-names.full.test.ts',
        method: 'the same on MariaDB',
        sample: 3,
        full: 30,
        rounds: 200,
      },
    },
  },
  unchanged: {
    promise: 'Rows that a build does not read are those of the last build',
    parts: {
      postgres: {
        file: 'test/prove/unchanged.full.test.ts',
        method:
          'random histories of several sessions (subtransactions, prepared and open transactions, VACUUM FULL, FREEZE, TRUNCATE, changed types and columns, crashes with synchronous_commit off), each build of them compared with a full read, on PostgreSQL',
        sample: 20,
        full: 200,
        rounds: 2000,
      },
    },
  },
  changes: {
    promise: '`tool changes` finds what has changed, and nothing else',
    parts: {
      postgres: {
        file: 'test/prove/changes.full.test.ts',
        method:
          'random changes since a load or a save (TRUNCATE, new definitions, VACUUM FULL, rolled-back and sub-transactions, sequences, large objects, crashes), each compared with what the server finds row by row, then a reset in place or by copy, on PostgreSQL',
        sample: 0,
        full: 60,
        rounds: 5000,
      },
      served: {
        file: 'test/operations/branch/serve-in-turn.test.ts',
        method:
          'random changes of a branch (the same, with older transactions that write behind a reset, a second program that serves, lost sessions, crashes, copies and new base copies), then a reset over sessions that stay open: equal to the base copy by checksums and dump, on PostgreSQL',
        sample: 10,
        full: 200,
        rounds: 5000,
      },
    },
  },
  limits: {
    promise: 'A full disk, no memory, no file handles and a clock that jumps lose nothing',
    parts: {
      postgres: {
        file: 'test/prove/limits.full.test.ts',
        method:
          'build, load, in-place load, sanitize and export under prlimit (files, memory, file size), a tmpfs of random size for the working directory or the databases, and a moved clock, on PostgreSQL',
        sample: 0,
        full: 10,
        rounds: 100,
      },
      mariadb: {
        file: 'test/prove/limits.full.test.ts',
        method: 'the same on MariaDB',
        sample: 0,
        full: 10,
        rounds: 60,
      },
      mysql: {
        file: 'test/prove/limits.full.test.ts',
        method: 'the same on MySQL',
        sample: 0,
        full: 5,
        rounds: 40,
      },
    },
  },
  subsets: {
    promise: 'Subsets are correct',
    parts: {
      postgres: {
        file: 'test/engines/postgres/subset/random-subsets.full.test.ts',
        method: 'random schemas against the reference implementation, row by row, on PostgreSQL',
        sample: 60,
        full: 500,
        rounds: 5000,
      },
      mariadb: {
        file: 'test/engines/mysql/subset/random-subsets.full.test.ts',
        method: 'the same on MariaDB',
        sample: 60,
        full: 500,
        rounds: 5000,
      },
      mysql: {
        file: 'test/engines/mysql/subset/random-subsets.full.test.ts',
        method: 'the same on MySQL',
        sample: 0,
        full: 100,
        rounds: 400,
      },
    },
  },
  instant: {
    promise: 'A snapshot is one instant',
    parts: {
      postgres: {
        file: 'test/prove/instant.full.test.ts',
        method:
          'builds and loads while others write rows that keep sums, parents and counts, in every other round also definitions, on PostgreSQL',
        sample: 0,
        full: 10,
        rounds: 100,
      },
      mariadb: {
        file: 'test/prove/instant.full.test.ts',
        method: 'the same on MariaDB',
        sample: 0,
        full: 10,
        rounds: 100,
      },
      mysql: {
        file: 'test/prove/instant.full.test.ts',
        method: 'the same on MySQL',
        sample: 0,
        full: 6,
        rounds: 50,
      },
    },
  },
  personal: {
    promise: 'No personal data remains that the coverage reports as changed',
    parts: {
      postgres: {
        file: 'test/prove/planted.full.test.ts',
        method:
          'marked values in random columns, random queries, the dump of the sanitized database searched for the marks, on PostgreSQL',
        sample: 0,
        full: 20,
        rounds: 500,
      },
      mariadb: {
        file: 'test/prove/planted.full.test.ts',
        method: 'the same on MariaDB',
        sample: 0,
        full: 20,
        rounds: 400,
      },
      mysql: {
        file: 'test/prove/planted.full.test.ts',
        method: 'the same on MySQL',
        sample: 0,
        full: 6,
        rounds: 100,
      },
    },
  },
  leaks: {
    promise: 'No original value is left in a sanitized snapshot without a finding',
    parts: {
      postgres: {
        file: 'test/operations/sanitize/random-leaks.full.test.ts',
        method:
          'random databases with triggers, copies, history tables, documents, large objects and definitions; every byte of the result searched for every original value, on PostgreSQL',
        sample: 4,
        full: 30,
        rounds: 600,
      },
      mariadb: {
        file: 'test/operations/sanitize/random-leaks.full.test.ts',
        method: 'the same on MariaDB',
        sample: 4,
        full: 30,
        rounds: 400,
      },
    },
  },
  faults: {
    promise: 'Storage faults are found and survived',
    parts: {
      single: {
        file: 'test/operations/snapshots/storage-faults.test.ts',
        method: `a proxy before a real S3 service: ${FAULTS}; one a round, or a killed push, over push, pull, rm and prune`,
        sample: 2,
        full: 30,
        rounds: 300,
      },
      encrypted: {
        file: 'test/operations/snapshots/storage-faults.full.test.ts',
        method: 'the same, encrypted',
        sample: 0,
        full: 30,
        rounds: 200,
      },
      often: {
        file: 'test/operations/snapshots/storage-faults.test.ts',
        method: 'up to three of ten requests fail',
        sample: 2,
        full: 20,
        rounds: 300,
      },
      'often-encrypted': {
        file: 'test/operations/snapshots/storage-faults.full.test.ts',
        method: 'the same, encrypted',
        sample: 0,
        full: 20,
        rounds: 200,
      },
    },
  },
  terminal: {
    promise: 'Screens survive',
    parts: {
      'random-keys': {
        file: 'test/e2e/random-keys.full.test.ts',
        method:
          'sessions of 100 random keys, pastes, resizes and mouse events in a pseudo-terminal, on a PostgreSQL that is intermittently available; each ends with the terminal as it was',
        sample: 0,
        full: 10,
        rounds: 100,
      },
    },
  },
  concurrency: {
    promise: 'Concurrent processes lose nothing',
    parts: {
      postgres: {
        file: 'test/prove/crowd.full.test.ts',
        method:
          'eight processes with random operations on one working directory, one bucket and one destination, on PostgreSQL',
        sample: 0,
        full: 6,
        rounds: 250,
      },
      mariadb: {
        file: 'test/prove/crowd.full.test.ts',
        method: 'the same on MariaDB',
        sample: 0,
        full: 6,
        rounds: 200,
      },
      mysql: {
        file: 'test/prove/crowd.full.test.ts',
        method: 'the same on MySQL',
        sample: 0,
        full: 3,
        rounds: 50,
      },
    },
  },
  secrets: {
    promise: 'No secret leaks',
    parts: {
      postgres: {
        file: 'test/prove/secrets.full.test.ts',
        method:
          'planted passwords and keys, searched in command lines, inherited environments, output, logs, temporary files and traffic without TLS of operations that succeed, fail or are killed, on PostgreSQL',
        sample: 0,
        full: 12,
        rounds: 300,
      },
      mariadb: {
        file: 'test/prove/secrets.full.test.ts',
        method: 'the same on MariaDB',
        sample: 0,
        full: 12,
        rounds: 200,
      },
      mysql: {
        file: 'test/prove/secrets.full.test.ts',
        method: 'the same on MySQL',
        sample: 0,
        full: 6,
        rounds: 100,
      },
    },
  },
  borders: {
    promise: 'Checked input is executed as checked',
    parts: {
      'definitions-mariadb': {
        file: 'test/hostile/mysql/random-definitions.test.ts',
        method:
          'forty mutated definitions a round (comments, quotes, version comments, clauses): refused, or created as they were checked, by the catalog of MariaDB',
        sample: 2,
        full: 20,
        rounds: 250,
      },
      'definitions-mysql': {
        file: 'test/hostile/mysql/random-definitions.test.ts',
        method: 'the same by that of MySQL',
        sample: 0,
        full: 10,
        rounds: 100,
      },
      'sql-postgres': {
        file: 'test/prove/sql-files.test.ts',
        method:
          'SQL files of quotes, comments, client commands, settings and rows, on PostgreSQL: no program runs, no other database changes, as many rows as accepted',
        sample: 6,
        full: 40,
        rounds: 2000,
      },
      'sql-mariadb': {
        file: 'test/prove/sql-files.test.ts',
        method: 'the same on MariaDB',
        sample: 6,
        full: 40,
        rounds: 2000,
      },
      'sql-mysql': {
        file: 'test/prove/sql-files.test.ts',
        method: 'the same on MySQL',
        sample: 0,
        full: 40,
        rounds: 2000,
      },
      manifests: {
        file: 'test/prove/manifests.full.test.ts',
        method:
          'edited, exchanged and forged manifests and left-over indexes in the bucket of a real S3 service, also between plan and load: what is listed and loaded is what a trusted key has signed, or nothing',
        sample: 6,
        full: 60,
        rounds: 2000,
      },
      urls: {
        file: 'test/hostile/urls.test.ts',
        method: 'hostile connection URLs, 50 a round: libpq reads the servers that the program has judged',
        sample: 20,
        full: 100,
        rounds: 2000,
      },
    },
  },
  trust: {
    promise: 'A trusted configuration does nothing new without a question',
    parts: {
      keys: {
        file: 'test/hostile/trust-keys.test.ts',
        method:
          'every key of the schema changed, added and removed in random trusted files: asked about, shown without secrets, or on the list of harmless keys',
        sample: 600,
        full: 3000,
        rounds: 20_000,
      },
    },
  },
  authorization: {
    promise: 'The hub does what its table of permissions says, and nothing else',
    parts: {
      matrix: {
        file: 'test/hub/permissions.test.ts',
        method: 'every operation by every kind of caller on a hub with PostgreSQL and a real S3 service',
        sample: 1,
        full: 1,
        rounds: 1,
      },
      sequences: {
        file: 'test/hub/authorization.test.ts',
        method:
          'random sequences of requests by six roles, each answer compared with a model of who may do and read what',
        sample: 20,
        full: 500,
        rounds: 10_000,
      },
    },
  },
  statements: {
    promise: 'An operation whose statement fails leaves the destination old or new, and says which',
    parts: {
      postgres: {
        file: 'test/prove/statements.full.test.ts',
        method:
          'a proxy refuses one statement of a load, load with base copy, in-place load, undo, reset, sanitize or subset, or closes its connection before or after the statement, on PostgreSQL; state by definitions, rows and dumps, then undo and the next run',
        sample: 0,
        full: 60,
        rounds: 4000,
      },
      mariadb: {
        file: 'test/prove/statements.full.test.ts',
        method: 'the same on MariaDB, also within the packet of the swap',
        sample: 0,
        full: 60,
        rounds: 5000,
      },
      mysql: {
        file: 'test/prove/statements.full.test.ts',
        method: 'the same on MySQL',
        sample: 0,
        full: 30,
        rounds: 5000,
      },
      'branches-postgres': {
        file: 'test/prove/statements.full.test.ts',
        method:
          'the same of a branch create (of one, of two, with its base copy), reset, switch or drop, on PostgreSQL',
        sample: 0,
        full: 30,
        rounds: 1500,
      },
      'branches-mariadb': {
        file: 'test/prove/statements.full.test.ts',
        method: 'the same on MariaDB',
        sample: 0,
        full: 30,
        rounds: 2500,
      },
      'branches-mysql': {
        file: 'test/prove/statements.full.test.ts',
        method: 'the same on MySQL',
        sample: 0,
        full: 20,
        rounds: 2000,
      },
      differences: {
        file: 'test/prove/differences.full.test.ts',
        method:
          'the same of a load by rows from a base copy that is replaced, kept with a spare or dropped, and of a reset and a branch from what such a load leaves; then reset, undo, branch and the next load by rows, on PostgreSQL',
        sample: 2,
        full: 40,
        rounds: 1000,
      },
    },
  },
  configurations: {
    promise: 'A configuration never causes a crash',
    parts: {
      files: {
        file: 'test/config/fuzz.test.ts',
        method: 'mutated configuration files and environments',
        sample: 1500,
        full: 3000,
        rounds: 10_000,
      },
      manifests: {
        file: 'test/hostile/fuzz.test.ts',
        method: 'mutated manifests',
        sample: 100,
        full: 500,
        rounds: 3334,
      },
      archives: {
        file: 'test/hostile/fuzz.test.ts',
        method: 'mutated archives of exported snapshots',
        sample: 100,
        full: 500,
        rounds: 3334,
      },
      objects: {
        file: 'test/hostile/fuzz.test.ts',
        method: 'mutated objects',
        sample: 100,
        full: 500,
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
