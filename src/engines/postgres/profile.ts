import type { EngineProfile } from '../profile.ts';

export const profile = {
  id: 'postgres',
  products: ['PostgreSQL'],
  schemes: ['postgres', 'postgresql', 'pgdocker'],
  defaultPort: 5432,
  hasSchemas: true,
  exampleImage: 'postgres:17',
  withoutPrograms: {
    works: false,
    advice: 'no client programs: apt-get install postgresql-client, or brew install libpq',
  },
  surroundings: {
    variables: /^PG[A-Z]/,
    passwordVariables: ['PGPASSWORD'],
    passwordFileVariables: ['PGPASSFILE'],
    userVariable: 'PGUSER',
    sockets: ['/var/run/postgresql'],
    homeFiles: ['.pgpass', '.pg_service.conf', '.postgresql'],
  },
} satisfies EngineProfile & { id: 'postgres' };
