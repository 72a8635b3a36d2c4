import type { DatabaseUrl } from '../../engine.ts';
import type { Server } from '../catalogue.ts';
import type { SubsetCatalogue } from './catalogue.ts';
import type { Lend } from './finder.ts';

/** A source as long as it is open, with all that making a subset of it needs to know. */
export interface OpenSource {
  url: DatabaseUrl;
  database: string;
  server: Server;
  catalogue: SubsetCatalogue;
  lend: Lend;
  /** How many sessions there are to lend. */
  sessions: number;
}
