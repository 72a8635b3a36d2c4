import { expect, it } from 'vitest';
import { RowBlocks } from '../../../../src/engines/mysql/dump/row-blocks.ts';
import { mostBytesOf, ROWS_TERMINATOR, writeRow } from '../../../../src/engines/mysql/dump/row-text.ts';
import { fc } from '../../../helpers/fast-check.ts';

/** A row as the server's text protocol has it: a length before every field, one byte for NULL. */
function packetOf(fields: (Uint8Array | null)[]): Buffer {
  return Buffer.concat(fields.flatMap((field) => (field === null ? [Buffer.from([0xfb])] : [lengthOf(field), field])));
}

function lengthOf({ length }: Uint8Array): Buffer {
  if (length < 251) return Buffer.from([length]);
  if (length < 65_536) return Buffer.from([0xfc, length & 255, length >> 8]);
  return Buffer.from([0xfd, length & 255, (length >> 8) & 255, length >> 16]);
}

function textOf(fields: (Uint8Array | null)[]): string {
  const packet = packetOf(fields);
  const into = Buffer.alloc(mostBytesOf(packet.length));
  const end = writeRow({ buffer: packet, offset: 0, end: packet.length }, into, 0);
  return into.toString('latin1', 0, end);
}

/** As LOAD DATA reads it. */
function readRow(text: string): (string | null)[] {
  const unescaped: Record<string, string> = { '\\t': '\t', '\\n': '\n', '\\\\': '\\' };
  return text
    .slice(0, -1)
    .split('\t')
    .map((field) => (field === '\\N' ? null : field.replaceAll(/\\./gs, (pair) => unescaped[pair] ?? pair)));
}

it('writes any row on one line that reads as the same row', () => {
  const field = fc.option(
    fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc.constantFrom(Buffer.from('\\N'), Buffer.from('\\.')),
      fc.constant(Buffer.from('a\tb\\\n')),
    ),
  );
  fc.assert(
    fc.property(fc.array(field, { minLength: 1, maxLength: 8 }), (fields) => {
      const text = textOf(fields);
      expect(text.indexOf('\n')).toBe(text.length - 1);
      expect(`\n${text}`).not.toContain(ROWS_TERMINATOR);
      expect(readRow(text)).toEqual(fields.map((bytes) => bytes && Buffer.from(bytes).toString('latin1')));
    }),
  );
});

it('tells NULL, an empty text and the word NULL apart', () => {
  expect(textOf([null, Buffer.from(''), Buffer.from('NULL'), Buffer.from('\\N')])).toBe('\\N\t\tNULL\t\\\\N\n');
});

it('reads fields of every length', () => {
  for (const length of [250, 251, 65_535, 65_536, 1_000_000]) {
    expect(textOf([Buffer.alloc(length, 'x'), Buffer.from('end')])).toBe(`${'x'.repeat(length)}\tend\n`);
  }
});

it('writes a long row that arrives in parts as the same text, in blocks of one memory', () => {
  const field = fc.option(fc.oneof(fc.uint8Array({ maxLength: 600 }), fc.constant(Buffer.from('\\\t\n'.repeat(300)))));
  const row = fc.array(field, { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(fc.array(row, { minLength: 1, maxLength: 4 }), fc.integer({ min: 8, max: 700 }), (rows, size) => {
      let text = '';
      const blocks = new RowBlocks(Buffer.alloc(size), (block) => {
        text += block.toString('latin1');
        return Buffer.from(block.buffer, block.byteOffset, size);
      });
      for (const [at, fields] of rows.entries()) {
        const packet = packetOf(fields);
        // Whole, byte by byte, and in parts of a few bytes.
        const partBytes = [packet.length, 1, 7, size][at % 4] ?? 1;
        if (at === 0) blocks.take({ buffer: packet, offset: 0, end: packet.length });
        else {
          for (let from = 0; from < packet.length; from += partBytes) {
            blocks.takePart(packet.subarray(from, from + partBytes));
          }
          blocks.endRow();
        }
      }
      blocks.flush();
      expect(text).toBe(rows.map(textOf).join(''));
      expect(blocks.longest).toBe(Math.max(...rows.map((fields) => textOf(fields).length)));
    }),
  );
});
