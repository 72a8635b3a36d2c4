import type * as v from 'valibot';
import type { EngineId } from './list.ts';
import { mysqlDetails } from './mysql/details-schema.ts';
import { postgresDetails } from './postgres/details-schema.ts';

type DetailsSchema = (text: v.GenericSchema<string>) => v.ObjectSchema<v.ObjectEntries, undefined>;

/** Each engine's part of a manifest; `text` is the schema of a name. Apart from the profiles, which every start reads. */
export const DETAILS_SCHEMAS: Record<EngineId, DetailsSchema> = { postgres: postgresDetails, mysql: mysqlDetails };
