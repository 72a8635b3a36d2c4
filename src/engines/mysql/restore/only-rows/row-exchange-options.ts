import type { DatabaseUrl } from '../../../database-url.ts';
import type { MysqlSession } from '../../connection/session.ts';
import type { RowsOf, UndoTable } from '../../swap/undo-copy.ts';

export interface RowExchangeOptions {
  url: DatabaseUrl;
  undo: boolean;
  /** The branch that the rows of an undo are of. */
  rowsOf?: RowsOf | null | undefined;
  /** `schema` in the names of the snapshot. */
  schema: string;
  tables: (Omit<UndoTable, 'counter'> & {
    /** The next value of AUTO_INCREMENT afterwards. */
    counter: string;
    /** Called in a transaction, in the database of the empty table. */
    fill: (session: MysqlSession) => Promise<void>;
  })[];
}
