/** The first script of a worker thread of the single executable; its argument is the module to run. */
import { serveModules } from './modules.ts';

serveModules();
void import(process.argv[2] as string);
