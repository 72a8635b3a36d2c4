import { expect, it } from 'vitest';
import { acceptStatement } from '../../../../src/engines/mysql/restore/script/accept-statement.ts';
import { createSplitter as createMysqlSplitter } from '../../../../src/engines/mysql/restore/script/split.ts';
import { createSplitter as createPostgresSplitter } from '../../../../src/engines/postgres/restore/script/split.ts';
import { ScriptProblem } from '../../../../src/engines/shared/script/script-problem.ts';
import type { ScriptSplitter } from '../../../../src/engines/shared/script/split-script.ts';
import { fc } from '../../../helpers/fast-check.ts';

const PIECES = [
  ...["'", "''", '"', '`', '\\', "E'", "U&'", '$$', '$a$', '$', '--', '-- ', '#', '/*', '*/', '/*!50000 ', '/*M!1'],
  ...['\n', '\r\n', ';', ';;', '(', ')', ' ', 'x', '1', 'é', 'BEGIN', 'END', 'USE', 'DELIMITER ;;\n', 'DELIMITER ;\n'],
  ...['COPY t FROM stdin;\n', '\\.\n', '\\N\t1\n', '\\restrict a\n', 'CREATE FUNCTION f() ', 'SET a = 1;', 'SELECT '],
];

/** A statement whose bytes are still in reused memory, behind the chunks that follow. */
const QUOTES = Buffer.from(`+${"''".repeat(60)};`);

/** Statements and rows, or the problem. */
function outcome(splitter: ScriptSplitter, chunks: Buffer[]): unknown {
  try {
    const parts = [...chunks.flatMap((chunk) => splitter.push(chunk)), ...splitter.end()];
    return {
      statements: parts.filter(({ kind }) => kind === 'statement'),
      rows: Buffer.concat(parts.filter(({ kind }) => kind === 'rows').map(({ bytes }) => bytes)).toString('latin1'),
    };
  } catch (error) {
    if (!(error instanceof ScriptProblem)) throw error;
    return { message: error.message, position: error.position };
  }
}

it.each([
  { engine: 'PostgreSQL', create: () => createPostgresSplitter({ asFile: true }) },
  { engine: 'MySQL', create: () => createMysqlSplitter({ accept: acceptStatement }) },
])('a script of $engine is split the same for any chunks', ({ create }) => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...PIECES), { maxLength: 14 }),
      fc.integer({ min: 1, max: 7 }),
      (pieces, size) => {
        const whole = Buffer.from(pieces.join(''));
        const chunks = Array.from({ length: Math.ceil(whole.length / size) }, (_, at) =>
          whole.subarray(at * size, (at + 1) * size),
        );
        expect(outcome(create(), [QUOTES, ...chunks])).toEqual(outcome(create(), [Buffer.concat([QUOTES, whole])]));
      },
    ),
    { numRuns: 3000 },
  );
});

it('rows of COPY are passed on in pieces and not kept', () => {
  const splitter = createPostgresSplitter({ asFile: true });
  splitter.push(Buffer.from('COPY t FROM stdin;\n'));
  const line = Buffer.from(`\\N\t${'x'.repeat(1000)}\n`);
  for (let count = 0; count < 1000; count += 1) {
    expect(splitter.push(line)).toEqual([{ kind: 'rows', bytes: line, isLast: false }]);
  }
  expect(splitter.push(Buffer.from('\\.\n'))).toEqual([{ kind: 'rows', bytes: Buffer.alloc(0), isLast: true }]);
});
