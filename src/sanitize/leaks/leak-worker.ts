import type { RowFormat } from '../../engines/shared/rows/row-scanner.ts';
import { type ObjectToRead, readFrames } from '../../repository/objects/read-object.ts';
import { release } from '../../repository/objects/release.ts';
import { performTasks } from '../../runtime/thread-pool.ts';
import type { MarkSearch } from '../canaries/canary-marks.ts';
import { createMarkFinder, createMarkScanner, type MarkHits } from '../canaries/mark-finder.ts';
import { createPathCollector, type FoundPath } from '../ledger/document-paths.ts';
import { createDocumentReader } from '../ledger/document-reader.ts';
import type { Shape } from '../ledger/ledger-item.ts';
import { createCollector, insertValue } from './collect-values.ts';
import { type ColumnHits, Search, type SearchOptions } from './search-values.ts';
import type { FieldScanner } from './stored-fields.ts';
import type { LeakColumn } from './value-class.ts';
import { type DistinctBits, mix, newDistinctBits, noteDistinct, openTable, type TableMemory } from './value-table.ts';
import { squeeze } from './word-digest.ts';

export interface ValueRound {
  memory: TableMemory;
  round: number;
  rounds: number;
}

export interface StoredRows {
  files: ObjectToRead[];
  format: RowFormat;
}

/** A digest whose text is looked for. */
export interface WantedValue {
  first: number;
  second: number;
}

export type LeakTask =
  | { task: 'collect'; rows: StoredRows; sources: (LeakColumn | null)[]; values: ValueRound }
  | { task: 'search rows'; rows: StoredRows; columns: SearchOptions['columns']; values: ValueRound }
  | { task: 'search contents'; files: ObjectToRead[]; values: ValueRound }
  | { task: 'search texts'; texts: string[]; values: ValueRound }
  | { task: 'texts'; rows: StoredRows; sources: (LeakColumn | null)[]; wanted: WantedValue[] }
  | { task: 'sum'; files: ObjectToRead[] }
  | { task: 'marks'; rows: StoredRows; columns: number; search: MarkSearch }
  | { task: 'marks in contents'; files: ObjectToRead[]; search: MarkSearch }
  /** By column; `null` for one without documents. */
  | { task: 'paths'; rows: StoredRows; shapes: (Shape | null)[] };

export type LeakAnswer =
  /** `isFull`: the values need more rounds. */
  | { answer: 'collected'; isFull: boolean; distinct: Map<number, DistinctBits> }
  | { answer: 'searched'; hits: ColumnHits[] }
  | { answer: 'texts'; texts: Map<string, Set<string>> }
  /** Equal for equal rows in any order. */
  | { answer: 'sum'; sum: string }
  /** By column, or of all contents together. */
  | { answer: 'marks'; hits: MarkHits[] }
  /** By column. */
  | { answer: 'paths'; paths: FoundPath[][] };

performTasks<LeakTask, LeakAnswer>((task, answer) => answer(perform(task)));

function perform(task: LeakTask): LeakAnswer {
  switch (task.task) {
    case 'collect':
      return collect(task);
    case 'search rows': {
      const search = new Search({ table: openTable(task.values.memory, task.values), columns: task.columns });
      scan(task.rows, () => search.rows(task.rows.format));
      return { answer: 'searched', hits: search.hits };
    }
    case 'search contents': {
      const search = new Search({ table: openTable(task.values.memory, task.values), columns: [{ scale: 1 }] });
      for (const file of task.files) searchContent(search, file);
      return { answer: 'searched', hits: search.hits };
    }
    case 'search texts': {
      const table = openTable(task.values.memory, task.values);
      const hits = task.texts.map((text) => {
        const search = new Search({ table, columns: [{ scale: 1 }] });
        search.text(text);
        return search.hits;
      });
      return { answer: 'searched', hits: hits.flat() };
    }
    case 'texts':
      return texts(task);
    case 'sum':
      return { answer: 'sum', sum: sumRows(task.files) };
    case 'marks': {
      const { scanner, hits } = createMarkScanner({ ...task, format: task.rows.format });
      scan(task.rows, scanner);
      return { answer: 'marks', hits: hits() };
    }
    case 'marks in contents': {
      const finder = createMarkFinder(task.search);
      for (const file of task.files) {
        let isFirst = true;
        for (const frame of readFrames(file)) {
          finder.feed(Buffer.from(frame.buffer, frame.byteOffset, frame.length), isFirst);
          isFirst = false;
        }
      }
      return { answer: 'marks', hits: [finder.hits()] };
    }
    case 'paths':
      return paths(task);
    default:
      return task satisfies never;
  }
}

function collect({ rows, sources, values }: Extract<LeakTask, { task: 'collect' }>): LeakAnswer {
  const table = openTable(values.memory, values);
  const distinct = new Map<number, DistinctBits>();
  for (const source of sources) if (source) distinct.set(source.id, newDistinctBits());
  let isFull = false;
  const collector = createCollector({
    format: rows.format,
    sources,
    onValue(value) {
      const { first, second, source } = value;
      isFull ||= !insertValue(table, value);
      const bits = distinct.get(source.id);
      if (bits) noteDistinct(bits, mix(first, second), source.scale);
    },
  });
  scan(rows, () => collector);
  return { answer: 'collected', isFull, distinct };
}

function texts({ rows, sources, wanted }: Extract<LeakTask, { task: 'texts' }>): LeakAnswer {
  const keys = new Set(wanted.map(({ first, second }) => `${first} ${second}`));
  const firsts = new Set(wanted.map(({ first }) => first));
  const found = new Map<string, Set<string>>();
  const collector = createCollector({
    format: rows.format,
    sources,
    onValue(value) {
      if (!firsts.has(value.first)) return;
      const key = `${value.first} ${value.second}`;
      if (!keys.has(key)) return;
      const known = found.get(key) ?? new Set();
      if (known.size < MOST_TEXTS) found.set(key, known.add(squeeze(value.text())));
    },
  });
  scan(rows, () => collector);
  return { answer: 'texts', texts: found };
}

/** More texts than one of a digest are chance. */
const MOST_TEXTS = 4;

function paths({ rows, shapes }: Extract<LeakTask, { task: 'paths' }>): LeakAnswer {
  const collectors = shapes.map(() => createPathCollector());
  scan(rows, () =>
    createDocumentReader({
      format: rows.format,
      shapes,
      onText: (column, text) => {
        const shape = shapes[column];
        if (!shape) return;
        if (text === null) collectors[column]?.addUnread();
        else collectors[column]?.add(text, shape);
      },
    }),
  );
  return { answer: 'paths', paths: collectors.map((collector) => collector.found()) };
}

function scan({ files }: StoredRows, scanner: () => FieldScanner): void {
  for (const file of files) {
    const rows = scanner();
    for (const frame of readFrames(file)) {
      rows.push(frame);
      release(frame);
    }
  }
}

function searchContent(search: Search, file: ObjectToRead): void {
  let isFirst = true;
  let held: Uint8Array | null = null;
  const pass = (bytes: Uint8Array, isLast: boolean): void => {
    search.piece({ column: 0, bytes, from: 0, to: bytes.length, isFirst, isLast, isPlain: false });
    isFirst = false;
  };
  for (const frame of readFrames(file)) {
    if (held) pass(held, false);
    held = frame;
  }
  if (held) pass(held, true);
}

const LINE_FEED = 10;

function sumRows(files: ObjectToRead[]): string {
  let [sum, first, second] = [0n, 0, 0];
  const rows = new Float64Array(1);
  for (const file of files) {
    for (const frame of readFrames(file)) {
      for (let at = 0; at < frame.length; at += 1) {
        const byte = frame[at] as number;
        if (byte !== LINE_FEED) {
          first = (Math.imul(first, 0x01000193) + byte + 1) | 0;
          second = (Math.imul(second ^ byte, 0x5bd1e995) + 0x9e3779b9) | 0;
          continue;
        }
        rows[0] = (rows[0] as number) + (mix(first, second) & 0xfffff) * 2 ** 12 + (mix(second, first) >>> 20);
        if ((rows[0] as number) > 2 ** 51) {
          sum += BigInt(rows[0] as number);
          rows[0] = 0;
        }
        [first, second] = [0, 0];
      }
      release(frame);
    }
  }
  return String(sum + BigInt(rows[0] as number));
}
