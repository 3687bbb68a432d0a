// CouchDB's protocol in front of databases in memory: node couchdb.js PORT. CouchDB itself is
// in no package of npm or Debian; this is PouchDB's server, which replicates with it.
const express = require('express');
const PouchDB = require('pouchdb-core').plugin(require('pouchdb-adapter-memory'));

const app = express();
app.use('/', require('express-pouchdb')(PouchDB.defaults({adapter: 'memory'}), {inMemoryConfig: true, mode: 'minimumForPouchDB', overrideMode: {include: ['routes/find']}}));
app.listen(+process.argv[2], '127.0.0.1');
