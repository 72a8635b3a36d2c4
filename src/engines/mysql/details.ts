import * as v from 'valibot';
import type { Manifest } from '../../repository/manifest/manifest.ts';
import { parseDetails } from '../shared/manifest-details.ts';
import { type MysqlDetails, mysqlDetails } from './details-schema.ts';

export type Details = MysqlDetails;

export const detailsSchema = mysqlDetails(v.string());

export const DEFINITIONS_FILE = 'definitions.json';

export function detailsOf(manifest: Manifest): Details {
  return parseDetails(detailsSchema, manifest);
}
