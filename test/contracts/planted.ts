import { join } from 'node:path';
import { expect } from 'vitest';
import { build } from '../../src/operations/build/build.ts';
import { applySanitize, planSanitize } from '../../src/operations/sanitize/sanitize.ts';
import { UserError } from '../../src/runtime/errors.ts';
import type { AnyServer } from '../helpers/databases/any-server.ts';
import { testContext } from '../helpers/postgres/postgres-server.ts';
import type { Round } from '../helpers/trials.ts';

const ROWS = 60;

/** Kinds whose values are a person's own: of others, such as names, a new value may equal an old one by chance. */
const TELLING = ['email', 'login', 'phone', 'national_id', 'iban', 'card', 'secret'];

/** Names that mean nothing beside those that mean personal data: the values decide as well. */
const NAMES = [
  ...['email', 'contact', 'phone', 'mobile', 'first_name', 'last_name', 'full_name', 'iban', 'street', 'address'],
  ...[
    'a',
    'payload',
    'value',
    'data',
    'remark',
    'notes',
    'title',
    'code',
    'ref',
    'password_hash',
    'ssn',
    'birth_place',
  ],
];

interface Planted {
  column: string;
  /** Of row `id`; its mark is nowhere else. */
  value(id: number): string;
}

/** Values that are a person's, each with a mark that nothing else has. */
function planted({ random, oneOf }: Round, column: string): Planted {
  const mark = `zq${Math.floor(random() * 2 ** 31).toString(36)}`;
  const values = [
    (id: number) => `${mark}x${id}@mail.example.org`,
    (id: number) => `Anna ${mark}x${id}`,
    (id: number) => `${id} ${mark}x${id} Street, Berlin`,
    (id: number) => `called ${mark}x${id}@mail.example.org, +49 30 901820`,
    (id: number) => `{"mail": "${mark}x${id}@mail.example.org"}`,
  ];
  return { column, value: oneOf(values) };
}

/** What a query may do to a column, from nothing to all; each is a `SET` or a `WHERE` that leaves some. */
function changes(column: string): string[] {
  return [
    '',
    `UPDATE person SET ${column} = concat('masked ', id)`,
    `UPDATE person SET ${column} = NULL`,
    `UPDATE person SET ${column} = concat('masked ', id) WHERE id % 2 = 0`,
    `UPDATE person SET ${column} = concat('masked ', id) WHERE id <> 7`,
    `UPDATE person SET ${column} = concat(${column}, ' ')`,
    `UPDATE person SET ${column} = upper(${column})`,
  ];
}

/**
 * Personal data in random columns, and a random query: a value that is still in the sanitized database must be in no
 * column that the coverage reports as changed.
 */
export async function checkPlanted(
  { server, folder }: { server: AnyServer; folder: string },
  round: Round,
): Promise<void> {
  const { random, oneOf } = round;
  const names = NAMES.filter(() => random() < 0.3)
    .concat('email')
    .slice(0, 6);
  const columns = [...new Set(names)].map((column) => planted(round, column));
  const view = random() < 0.5 ? ['CREATE VIEW seen AS SELECT * FROM person'] : [];
  const rows = Array.from(
    { length: ROWS },
    (_, id) => `(${[id, ...columns.map(({ value }) => `'${value(id)}'`)].join(', ')})`,
  );
  const [source, clean] = [`people_${round.number}`, `people_${round.number}_clean`];
  const statements = columns.map(({ column }) => oneOf(changes(column))).filter((statement) => statement !== '');
  await server.create(source);
  try {
    await server.run(source, [
      `CREATE TABLE person (id integer PRIMARY KEY, ${columns.map(({ column }) => `${column} varchar(120)`).join(', ')})`,
      `INSERT INTO person VALUES ${rows.join(', ')}`,
      ...view,
    ]);
    const query = statements.length > 0 ? statements.join('; ') : 'SELECT 1';
    const target = {
      snapshot: { src_url: server.url(source) },
      sanitize: { dst_url: server.url(clean), override_query: query },
    };
    const context = testContext({ settings: { working_directory: join(folder, source), targets: { app: target } } });
    await build(context, { target: 'app', cpus: 1 });
    const sanitize = async () => applySanitize(context, await planSanitize(context, { target: 'app', cpus: 1 }));
    const { coverage } = await sanitize().catch((error) => {
      // A query that the server refuses proves nothing, and publishes nothing.
      if (error instanceof UserError && error.code === 'query_failed') return { coverage: null };
      throw error;
    });
    if (coverage === null) return;
    const dump = (await server.dump(clean)).toLowerCase();
    const named = (column: string): boolean => column.startsWith('person.') || column.includes('.person.');
    const changed = new Map(
      coverage.changed.filter((one) => named(one.column)).map((one) => [last(one.column), one.kind]),
    );
    const found = new Set(
      coverage.findings
        .map(({ column }) => column)
        .filter(named)
        .map(last),
    );
    for (const { column, value } of columns) {
      const markOf = (id: number): string => (/zq\w+x\d+/.exec(value(id)) ?? [''])[0].toLowerCase();
      // Whole words: row 1 is no part of row 10.
      const left = Array.from({ length: ROWS }, (_, id) => markOf(id)).filter((mark) =>
        new RegExp(`${mark}(?!\\d)`).test(dump),
      );
      const told = `${column} (${query}): ${left.length} of ${ROWS} values are left, e.g. ${left[0]}`;
      const isRecoded = statements.some(
        (statement) =>
          statement.includes(`SET ${column} = upper(`) || statement.includes(`SET ${column} = concat(${column}`),
      );
      const kind = changed.get(column);
      // A value that was changed is no old one; nor is one of many that was not sampled.
      const counts = left.length === ROWS || (kind !== undefined && TELLING.includes(kind));
      if (left.length > 0 && counts && !isRecoded) {
        expect(kind !== undefined && !found.has(column), `${told}, reported as changed (${kind})`).toBe(false);
      }
    }
  } finally {
    for (const name of await server.databases()) if (name.startsWith(source)) await server.drop(name);
  }
}

function last(column: string): string {
  return column.split('.').at(-1) ?? '';
}
