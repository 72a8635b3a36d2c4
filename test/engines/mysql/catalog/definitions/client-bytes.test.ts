import { expect, it } from 'vitest';
import { checkCode } from '../../../../../src/engines/mysql/catalog/definitions/check-definitions.ts';
import {
  bytesOfText,
  hasTokensOf,
  textOfBytes,
} from '../../../../../src/engines/mysql/catalog/definitions/client-bytes.ts';
import type { Code } from '../../../../../src/engines/mysql/catalog/definitions/definitions.ts';

const ALL = Buffer.from(Array.from({ length: 256 * 256 * 2 }, (_, at) => (at % 2 === 0 ? at >> 9 : at >> 1) & 255));

it('writes every pair of bytes as text and back', () => {
  for (const charset of ['latin1', 'utf8mb4', 'sjis', 'cp932', 'big5', 'gbk', 'gb18030', 'euckr']) {
    expect(bytesOfText(textOfBytes(ALL, charset)).equals(ALL), charset).toBe(true);
  }
});

it('takes no second byte of a letter for a quote or a backslash', () => {
  const bytes = Buffer.concat([Buffer.from("SELECT '"), Buffer.from('955c', 'hex'), Buffer.from("', 1")]);
  const options = { charset: 'sjis', mode: {} };
  expect(hasTokensOf("SELECT '表', 1", textOfBytes(bytes, 'sjis'), options)).toBe(true);
  expect(hasTokensOf("SELECT '表', 1", textOfBytes(bytes, 'latin1'), options)).toBe(false);
});

it('refuses a snapshot whose bytes differ from their text', () => {
  const code = (create: string, bytes: string, charset = 'latin1'): Code => ({
    ...{ kind: 'VIEW', name: 'v', create, bytes: Buffer.from(bytes, 'latin1').toString('base64') },
    ...{ sql_mode: null, charset, collation: 'latin1_swedish_ci', time_zone: null },
  });
  const check = (view: Code) => (): void => {
    checkCode({ routines: [], views: [view], triggers: [], events: [] });
  };
  const view = "CREATE VIEW `v` AS SELECT 'ü' AS `a`";
  expect(check(code(view, view))).not.toThrow();
  for (const bytes of [
    "CREATE VIEW `app`.`v` AS SELECT 'ü' AS `a`",
    "CREATE VIEW `v` AS SELECT 'ü' INTO OUTFILE '/tmp/x'",
    "CREATE VIEW `v` AS SELECT 'ü' AS `a`; DROP DATABASE app",
    "DROP VIEW `v` /* AS SELECT 'ü' AS `a` */",
    '',
  ]) {
    expect(check(code(view, bytes)), bytes).toThrow(/its bytes are another statement/);
  }
  // To the server the first byte takes the quote along that seems to end the text.
  expect(
    check(code("CREATE VIEW `v` AS SELECT '\u{e000}', 1", "CREATE VIEW `v` AS SELECT '\u0081`, 1", 'sjis')),
  ).toThrow();
  expect(check({ ...code(view, view), charset: null })).toThrow(/its bytes are another statement/);
});
