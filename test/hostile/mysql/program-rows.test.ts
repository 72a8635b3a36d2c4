import { describe, expect, it } from 'vitest';
import { InsertScanner } from '../../../src/engines/mysql/dump/program/insert-scanner.ts';
import { checkedRows } from '../../../src/engines/mysql/dump/program/rows-file.ts';

/** The text in blocks of so many bytes. */
async function* blocks(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function passed(text: string, { size = 1000, table = 't', rows = 1 } = {}): Promise<string> {
  let output = '';
  for await (const { bytes } of checkedRows(blocks(text, size), { table, rows })) {
    output += Buffer.from(bytes).toString('latin1');
  }
  return output;
}

describe("input of the vendor's client", () => {
  it.each([
    ["INSERT INTO `t` VALUES (1,'x');\n", 1],
    ["INSERT INTO `t` (`a`, `b`) VALUES (1,NULL),\n(-1.5e-300,0xFF),(.5,_binary 'x\\'y''z\\\\');\n", 3],
    ["INSERT INTO `t` (`VALUES (`,`b``c`) VALUES ('; DROP DATABASE x; -- ','/*! */'),('a\\\nb',b'01');\n", 2],
    ['INSERT INTO `t` VALUES (1);\nINSERT INTO `t` VALUES (2);\n', 2],
  ])('passes on rows of literals: %j', async (text, rows) => {
    const expected = Buffer.from(text.replaceAll(';\n', ';')).toString('latin1');
    for (const size of [1, 2, 7, 1000]) expect(await passed(text, { size, rows })).toBe(expected);
  });

  it.each([
    'DROP DATABASE production;\n',
    'USE production;\n',
    'INSERT INTO `production`.`t` VALUES (1);\n',
    'INSERT INTO production.t VALUES (1);\n',
    'INSERT INTO `other` VALUES (1);\n',
    'INSERT INTO `t` SELECT * FROM production.t;\n',
    'INSERT INTO `t` SELECT 1 AS ` VALUES (1);\n',
    'INSERT INTO `t` VALUES (1); DROP DATABASE production;\n',
    'INSERT INTO `t` VALUES (1) ON DUPLICATE KEY UPDATE a = (SELECT 2);\n',
    'INSERT INTO `t` VALUES ((SELECT 1));\n',
    "INSERT INTO `t` VALUES (LOAD_FILE('/etc/passwd'));\n",
    'INSERT INTO `t` VALUES (@@datadir);\n',
    'INSERT INTO `t` VALUES (1-- );\n,2);\n',
    'INSERT INTO `t` VALUES (1#);\n',
    'INSERT INTO `t` VALUES (1/*!,(SELECT 2)*/);\n',
    'INSERT INTO `t` VALUES (1);\n\\! touch /tmp/owned\n',
    'INSERT INTO `t` VALUES (1 \\! touch /tmp/owned\n);\n',
    'INSERT INTO `t` VALUES (1);\nDELIMITER ;;\n',
    'INSERT INTO `t` VALUES ("1");\n',
    "INSERT INTO `t` VALUES ('a\\');\n",
    'INSERT INTO `t` (`a`) /*! SELECT */ VALUES (1);\n',
    'INSERT INTO `t` VALUES (1)',
    'INSERT INTO `t` VALUES (1),(2);\n',
    '\u0000INSERT INTO `t` VALUES (1);\n',
    'insert into `t` VALUES (1);\n',
  ])('refuses anything else, and passes on no whole statement of it: %j', async (text) => {
    for (const size of [1, 3, 1000]) {
      let output = '';
      const read = async (): Promise<void> => {
        for await (const { bytes } of checkedRows(blocks(text, size), { table: 't', rows: 1 }))
          output += Buffer.from(bytes);
      };
      await expect(read()).rejects.toMatchObject({ name: 'InsertRefused' });
      // Rows that were read before it, and what is inside a literal that has not ended.
      const others = output
        .replaceAll(/'(?:\\.|[^'\\])*$/g, '')
        .replaceAll(/INSERT INTO `t` VALUES \(1\)(,\(2\))?;?/g, '');
      expect(others).not.toMatch(/;|SELECT|\\!|DELIMITER/);
    }
  });

  it('refuses every byte between values that is part of no literal', () => {
    const allowed = new Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.+-, \n')".split(''));
    for (let byte = 0; byte < 256; byte += 1) {
      const scan = (): number =>
        new InsertScanner().scan(Buffer.concat([Buffer.from('INSERT INTO `t` VALUES (1'), Buffer.from([byte])]), 0);
      if (byte < 128 && allowed.has(String.fromCharCode(byte))) expect(scan).not.toThrow();
      else expect(scan, String(byte)).toThrow('is part of no literal');
    }
  });
});
