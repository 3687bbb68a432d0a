// FeathersJS with services in memory, which tells how many records there are and gives at most 20 of
// them at a time: node feathers.js PORT.
const {feathers} = require('@feathersjs/feathers'), {memory} = require('@feathersjs/memory');
const express = require('@feathersjs/express');

const app = express(feathers());
app.use(express.json());
app.use(express.urlencoded({extended: true}));
app.configure(express.rest());
for (const [path, start] of Object.entries({groups: {}, companies: {deleted: false}, products: {deleted: false}})) {
  app.use(path, memory({id: 'id', startId: 1, paginate: {default: 10, max: 20}, multi: false}));
  const stamp = async (context) => { context.data = {...(context.method === 'create' ? {...start, createdAt: new Date().toISOString()} : {}), ...context.data, updatedAt: new Date().toISOString()}; };
  const unique = async (context) => {
    if (path !== 'products' || !context.data.sku) return;
    const {data: [other]} = await context.service.find({query: {sku: context.data.sku, orgId: context.data.orgId || (await context.service.get(context.id)).orgId, id: {$ne: context.id || 0}}});
    if (other) throw Object.assign(new Error('sku must be unique'), {type: 'FeathersError', name: 'Conflict', code: 409, className: 'conflict', errors: {sku: 'unique'}, toJSON() { return {name: 'Conflict', message: 'sku must be unique', code: 409, errors: this.errors}; }});
  };
  app.service(path).hooks({before: {create: [unique, stamp], update: [stamp], patch: [unique, stamp]}});
}
app.use(express.notFound());
app.use(express.errorHandler({logger: false, html: false}));
app.listen(+process.argv[2], '127.0.0.1');
