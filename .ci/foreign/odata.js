// fe-mockserver (SAP), an OData V4 server, with three collections in memory: node odata.js PORT.
const fs = require('fs'), http = require('http'), os = require('os'), path = require('path');
const {default: Server} = require('@sap-ux/fe-mockserver-core');
const sets = {
  Groups: {ID: 'Int32', Code: 'String', Text: 'String'},
  Customers: {ID: 'Int32', Org: 'Int32', Kind: 'String', Name: 'String', Memo: 'String', Days: 'Int32', Modified: 'DateTimeOffset'},
  Articles: {ID: 'Int32', Org: 'Int32', Number: 'String', Description: 'String', Price: 'Double', GroupID: 'Int32', Deleted: 'Boolean'},
};
const types = Object.entries(sets).map(([name, of]) => `<EntityType Name="${name}"><Key><PropertyRef Name="ID"/></Key>` +
  Object.entries(of).map(([p, t]) => `<Property Name="${p}" Type="Edm.${t}"${p === 'ID' ? ' Nullable="false"' : ''}/>`).join('') + '</EntityType>').join('');
const container = Object.keys(sets).map((name) => `<EntitySet Name="${name}" EntityType="shop.${name}"/>`).join('');
const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'odata-'));
fs.writeFileSync(dir + '/metadata.xml', `<?xml version="1.0"?><edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
<Schema Namespace="shop" xmlns="http://docs.oasis-open.org/odata/ns/edm">${types}<EntityContainer Name="Shop">${container}</EntityContainer></Schema></edmx:DataServices></edmx:Edmx>`);
for (const name of Object.keys(sets)) fs.writeFileSync(`${dir}/${name}.json`, '[]');
(async () => {
  const server = new Server({services: [{urlPath: '/odata', metadataPath: dir + '/metadata.xml', mockdataPath: dir, strictKeyMode: true, generateMockData: false, noETag: true}]});
  await server.isReady;
  fs.rmSync(dir, {recursive: true});
  const router = server.getRouter();
  http.createServer((q, a) => router(q, a, () => { a.statusCode = 404; a.end(); })).listen(+process.argv[2], '127.0.0.1');
})();
