#!/usr/bin/env node
import '../dist/bin/lakeward.js';
