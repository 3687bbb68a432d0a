// jsonapi-server with three resources in memory: node jsonapi.js PORT.
const jsonApi = require('jsonapi-server');
const {Joi} = jsonApi;
const text = () => Joi.string().allow('', null), number = () => Joi.number().allow(null);
const resources = {
  groups: {tenant: number(), code: Joi.string().required(), description: text()},
  customers: {tenant: number(), kind: Joi.string().valid('PRIVATE', 'BUSINESS').required(), name: Joi.string().required(), memo: text(), paymentDays: number(), createdAt: Joi.string()},
  articles: {tenant: number(), number: Joi.string().required(), description: text(), price: number(), group: Joi.one('groups').required(), supplier: Joi.one('customers').allow(null)},
};
jsonApi.setConfig({protocol: 'http', hostname: '127.0.0.1', port: +process.argv[2], base: 'rest'});
for (const [resource, attributes] of Object.entries(resources)) {
  jsonApi.define({resource, handlers: new jsonApi.MemoryHandler(), searchParams: {}, attributes, examples: []});
}
jsonApi.start();
