// LoopBack with two models in memory and the endpoints that its own package makes of
// them: node loopback.js PORT.
const {RestApplication} = require('@loopback/rest');
const {CrudRestComponent} = require('@loopback/rest-crud');
const {RepositoryMixin, ModelDefinition, defineModelClass, defineCrudRepositoryClass, Entity, juggler} = require('@loopback/repository');
const {defineCrudRestController} = require('@loopback/rest-crud');
const {inject} = require('@loopback/core');

const text = {type: 'string'}, number = {type: 'number'};
const models = {
  Group: {code: text, label: text, vat: text, ledger: text},
  Part: {tenant: number, sku: text, label: text, sort: text, per: text, groupId: number, cost: {type: 'number', jsonSchema: {nullable: true}}, list: number, deleted: {type: 'boolean', default: false}, bin: {type: 'string', default: 'B-1'}},
};

async function main() {
  const app = new (RepositoryMixin(RestApplication))({rest: {host: '127.0.0.1', port: +process.argv[2], gracePeriodForClose: 0}});
  const source = new juggler.DataSource({name: 'db', connector: 'memory'});
  app.dataSource(source);
  for (const [name, properties] of Object.entries(models)) {
    const definition = new ModelDefinition({name, settings: {strict: true}});
    definition.addProperty('id', {type: 'number', id: true, generated: true});
    for (const [property, of] of Object.entries(properties)) definition.addProperty(property, of);
    const model = defineModelClass(Entity, definition);
    const repository = defineCrudRepositoryClass(model);
    inject('datasources.db')(repository, undefined, 0);
    const bound = app.repository(repository);
    const controller = defineCrudRestController(model, {basePath: '/' + name.toLowerCase() + 's'});
    inject(bound.key)(controller, undefined, 0);
    app.controller(controller);
  }
  await app.start();
  console.log(app.restServer.url);
}
main().catch(err => { console.error(err); process.exit(1); });
