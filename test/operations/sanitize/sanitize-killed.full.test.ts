import { killSanitizations } from './sanitize-killed.ts';

killSanitizations(20);
