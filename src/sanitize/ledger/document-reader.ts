import {
  createFieldScanner,
  type FieldScanner,
  type FieldScannerOptions,
  PIECE_BYTES,
} from '../leaks/stored-fields.ts';
import type { Shape } from './ledger-item.ts';

/** Bytes of a document that is read. */
const LONGEST_DOCUMENT = 16 * 1024 * 1024;

interface DocumentReaderOptions extends Pick<FieldScannerOptions, 'format'> {
  shapes: (Shape | null)[];
  /** `null` for a value that is too long. */
  onText: (column: number, text: string | null) => void;
}

/** Reads the values of some columns of stored rows as texts. */
export function createDocumentReader({ format, shapes, onText }: DocumentReaderOptions): FieldScanner {
  let pieces: Buffer[] = [];
  let length = 0;
  return createFieldScanner({
    format,
    isWanted: (column) => (shapes[column] ?? null) !== null,
    onPiece({ column, bytes, from, to, isFirst, isLast }) {
      const piece = Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from);
      // Of a long value in a vendor's dump the scanner passes the first piece only.
      const isCut = format === 'inserted' && piece.length >= PIECE_BYTES;
      if (isFirst && isLast) return onText(column, isCut ? null : piece.toString('utf8'));
      if (isFirst) [pieces, length] = [[], 0];
      length += piece.length;
      if (length > LONGEST_DOCUMENT) pieces = [];
      else pieces.push(Buffer.from(piece));
      if (isLast) onText(column, length > LONGEST_DOCUMENT ? null : Buffer.concat(pieces).toString('utf8'));
    },
  });
}
