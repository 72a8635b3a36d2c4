export type EngineId = 'postgres' | 'mysql';
