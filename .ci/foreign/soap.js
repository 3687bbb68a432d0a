// A SOAP 1.1 service (document/literal) with a WSDL, as an ERP system publishes its pages: the company
// is in the path, a list goes on after a bookmark, lines stand in their orders, an empty field is left
// out, and a change names the record's Key, which is another one after it. npm's soap speaks the
// protocol. /rows/COMPANY/PAGE has the same rows as JSON: node soap.js PORT.
const http = require('http'), soap = require('soap');

const line = {Line_No: 'int', Description: 'string', Quantity: 'decimal', Unit_Price: 'decimal', Group_Code: 'string'};
const pages = {
  Group: {Code: 'string', Description: 'string', High_Rate: 'boolean', Account: 'string'},
  Customer: {Type: 'string', Name: 'string', Note: 'string', Payment_Days: 'int', Language: 'string', Blocked: 'boolean', Score: 'int'},
  Item: {Vendor_No: 'string', Description: 'string', Group_No: 'string', Unit_Price: 'decimal', Blocked: 'boolean', Shelf: 'string'},
  SalesOrder: {Customer_No: 'string', Reference: 'string', Order_Date: 'string', SalesLines: 'Lines'},
};
const records = Object.fromEntries(['noord', 'zuid'].map((company) => [company, Object.fromEntries(Object.keys(pages).map((page) => [page, []]))]));

const element = (name, type, more = '') => `<xs:element name="${name}" type="${type}" minOccurs="0"${more}/>`;
const fields = (of) => Object.entries(of).map(([name, type]) => element(name, type === 'Lines' ? 't:Lines' : 'xs:' + type)).join('');
const message = (name, content) => `<xs:element name="${name}"><xs:complexType><xs:sequence>${content}</xs:sequence></xs:complexType></xs:element>`;
const key = element('No', 'xs:string') + element('Key', 'xs:string');
const operations = Object.keys(pages).flatMap((page) => [
  ['ReadMultiple' + page, element('bookmarkKey', 'xs:string') + element('setSize', 'xs:int'), element(page, 't:' + page, ' maxOccurs="unbounded"')],
  ['Read' + page, key, element(page, 't:' + page)],
  ['Create' + page, element(page, 't:' + page), element(page, 't:' + page)],
  ['Update' + page, element(page, 't:' + page), element(page, 't:' + page)],
  ['Delete' + page, key, element('Delete_Result', 'xs:boolean')],
]);
const wsdl = `<?xml version="1.0"?>
<definitions name="Shop" targetNamespace="urn:shop" xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/" xmlns:t="urn:shop" xmlns:xs="http://www.w3.org/2001/XMLSchema">
<types><xs:schema targetNamespace="urn:shop" elementFormDefault="qualified">
<xs:complexType name="Line"><xs:sequence>${fields(line)}</xs:sequence></xs:complexType>
<xs:complexType name="Lines"><xs:sequence>${element('Sales_Line', 't:Line', ' maxOccurs="unbounded"')}</xs:sequence></xs:complexType>
${Object.entries(pages).map(([page, of]) => `<xs:complexType name="${page}"><xs:sequence>${key}${fields(of)}</xs:sequence></xs:complexType>`).join('\n')}
${operations.map(([name, input, output]) => message(name, input) + message(name + '_Result', output)).join('\n')}
</xs:schema></types>
${operations.map(([name]) => `<message name="${name}"><part name="parameters" element="t:${name}"/></message><message name="${name}_Result"><part name="parameters" element="t:${name}_Result"/></message>`).join('\n')}
<portType name="Shop">${operations.map(([name]) => `<operation name="${name}"><input message="t:${name}"/><output message="t:${name}_Result"/></operation>`).join('\n')}</portType>
<binding name="Shop" type="t:Shop"><soap:binding style="document" transport="http://schemas.xmlsoap.org/soap/http"/>
${operations.map(([name]) => `<operation name="${name}"><soap:operation soapAction="urn:shop:${name}"/><input><soap:body use="literal"/></input><output><soap:body use="literal"/></output></operation>`).join('\n')}</binding>
<service name="Shop"><port name="Shop" binding="t:Shop"><soap:address location="http://127.0.0.1:${process.argv[2]}/"/></port></service>
</definitions>`;

const fault = (text) => { throw {Fault: {faultcode: 'soap:Client', faultstring: text, statusCode: 500}}; };
let made = 0;
const there = (rows, no) => rows.find((row) => row.No === no) || fault(`The record ${no} does not exist.`);
const settle = (page, row, of) => {
  for (const name of Object.keys(pages[page])) if (of[name] !== undefined) row[name] = of[name];
  for (const [name, v] of Object.entries(row)) if (v === '' || v === null || typeof v === 'object' && !Array.isArray(v.Sales_Line || v)) delete row[name];
  row.Key = `${row.No};${++made}`;
  return row;
};
const insert = (rows, page, of) => {
  if (page === 'Item' && rows.some((row) => row.Vendor_No === of.Vendor_No)) fault(`The Vendor_No ${of.Vendor_No} already exists.`);
  const row = settle(page, {No: page[0] + String(++made).padStart(6, '0')}, of);
  rows.push(row);
  return row;
};
const change = (rows, page, row, of) => {
  if (page === 'Item' && rows.some((other) => other !== row && other.Vendor_No === of.Vendor_No)) fault(`The Vendor_No ${of.Vendor_No} already exists.`);
  return settle(page, row, of);
};
const asKnown = (rows, of) => {
  const row = there(rows, (of.Key || '').split(';')[0]);
  return row.Key === of.Key ? row : fault('Another user has changed the record.');
};
const lines = (of) => of && of.SalesLines ? {...of, SalesLines: {Sales_Line: [].concat(of.SalesLines.Sales_Line || [])}} : of;

const server = http.createServer((request, answer) => { // what is no envelope: the rows themselves
  const [, door, company, page, no] = new URL(request.url, 'http://x').pathname.split('/'), rows = door === 'rows' && records[company] && records[company][page];
  let text = '';
  request.on('data', (part) => { text += part; }).on('end', () => {
    const of = text ? JSON.parse(text) : {};
    try {
      if (!rows) answer.statusCode = 404;
      const row = no && there(rows, no);
      if (request.method === 'POST') return answer.end(JSON.stringify(insert(rows, page, of)));
      if (request.method === 'PATCH') return answer.end(JSON.stringify(change(rows, page, row, of)));
      if (request.method === 'DELETE') rows.splice(rows.indexOf(row), 1);
      answer.end(JSON.stringify(rows || null));
    } catch (e) {
      answer.statusCode = 422;
      answer.end(JSON.stringify(e));
    }
  });
});
server.listen(+process.argv[2], '127.0.0.1', () => {
  for (const [company, of] of Object.entries(records)) {
    const port = {};
    for (const [page, rows] of Object.entries(of)) {
      port['ReadMultiple' + page] = ({bookmarkKey, setSize}) => ({[page]: rows.filter((row) => !bookmarkKey || row.No > bookmarkKey).slice(0, Math.min(setSize || 20, 20))});
      port['Read' + page] = ({No}) => ({[page]: there(rows, No)});
      port['Create' + page] = (args) => ({[page]: insert(rows, page, lines(args[page]))});
      port['Update' + page] = (args) => ({[page]: change(rows, page, asKnown(rows, args[page]), lines(args[page]))});
      port['Delete' + page] = (args) => { rows.splice(rows.indexOf(asKnown(rows, args)), 1); return {Delete_Result: true}; };
    }
    soap.listen(server, {path: `/WS/${company}/Shop`, services: {Shop: {Shop: port}}, xml: wsdl});
  }
});
