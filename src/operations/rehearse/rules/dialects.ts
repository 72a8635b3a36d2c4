import type { EngineId } from '../../../engines/list.ts';
import type { Dialect } from './dialect.ts';
import { MYSQL } from './mysql/dialect.ts';
import { POSTGRES } from './postgres/dialect.ts';

export const DIALECTS: Record<EngineId, Dialect> = { postgres: POSTGRES, mysql: MYSQL };
