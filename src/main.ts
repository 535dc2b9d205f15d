#!/usr/bin/env node
/** The command line: arguments in, exit code out. */
import { main } from './cli/main.ts';

process.exitCode = await main(process.argv.slice(2));
