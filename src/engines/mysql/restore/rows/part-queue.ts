import {
  bytesOfTable,
  filesOfTable,
  type ManifestFile,
  type ManifestTable,
} from '../../../../repository/manifest/manifest.ts';

export interface TablePart {
  table: ManifestTable;
  file: ManifestFile;
}

/** The next part: large tables first, and tables without a session before further parts of others. */
export class PartQueue {
  readonly length: number;
  readonly #states: { table: ManifestTable; waiting: ManifestFile[]; working: number; rows: number }[];

  constructor(tables: ManifestTable[]) {
    this.#states = tables
      .toSorted((a, b) => bytesOfTable(b) - bytesOfTable(a))
      .map((table) => ({ table, waiting: filesOfTable(table), working: 0, rows: 0 }));
    this.length = this.#states.reduce((sum, { waiting }) => sum + waiting.length, 0);
  }

  take(): TablePart | undefined {
    const open = this.#states.filter(({ waiting }) => waiting.length > 0);
    const state = open.find(({ working }) => working === 0) ?? open[0];
    const file = state?.waiting.shift();
    if (!state || !file) return undefined;
    state.working += 1;
    return { table: state.table, file };
  }

  /** Notes the rows of a part; those of the whole table when it was the last, else `null`. */
  finish({ table }: TablePart, rows: number): number | null {
    const state = this.#states.find((each) => each.table === table);
    if (!state) return null;
    state.working -= 1;
    state.rows += rows;
    return state.waiting.length === 0 && state.working === 0 ? state.rows : null;
  }
}
