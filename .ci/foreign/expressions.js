// Lists in memory (nedb) that are asked in a language of filters, which a parser reads that
// nobody here wrote: node expressions.js PORT odata|rsql|jql. Each reads what the service is
// asked into conditions, order and page.
const http = require('http');
const Nedb = require('@seald-io/nedb');

const readers = {
  odata(query, url) {
    const {query: conditions, sort, skip, limit} = require('odata-v4-mongodb').createQuery(url.search.slice(1) || '$top=100');
    return {conditions, sort, skip, limit};
  },
  rsql(query) {
    const {parse} = require('@rsql/parser');
    const {getSelector, getValue} = require('@rsql/ast');
    const operators = {'==': null, '!=': '$ne', '=gt=': '$gt', '=ge=': '$gte', '=lt=': '$lt', '=le=': '$lte'};
    const conditions = (node) => node.type === 'LOGIC'
      ? {[{';': '$and', ',': '$or', and: '$and', or: '$or'}[node.operator]]: [node.left, node.right].map(conditions)}
      : compared(getSelector(node), operators[node.operator], getValue(node), '*');
    const sort = Object.fromEntries((query.get('sort') || 'id').split(',').map((by) => [by.replace(/^-/, ''), by[0] === '-' ? -1 : 1]));
    return {conditions: query.get('q') ? conditions(parse(query.get('q'))) : {}, sort, skip: +query.get('offset'), limit: +query.get('limit')};
  },
  jql(query) {
    const {JastBuilder} = require('@atlaskit/jql-ast');
    const {query: of, errors} = new JastBuilder().build(query.get('jql') || '');
    if (errors.length > 0) throw errors[0];
    const operators = {'=': null, '!=': '$ne', '>': '$gt', '>=': '$gte', '<': '$lt', '<=': '$lte'};
    const conditions = (node) => {
      if (node.clauseType === 'compound') return {['$' + node.operator.value]: node.clauses.map(conditions)};
      if (node.operator.value === '~') return {[node.field.value]: new RegExp(node.operand.value.replace(/[^\w\s]/g, '\\$&'), 'i')};
      if (node.operand.operandType === 'keyword') return {[node.field.value]: {[node.operator.value === 'is' ? '$in' : '$nin']: [null, '']}};
      return compared(node.field.value, operators[node.operator.value], node.operand.value);
    };
    const sort = Object.fromEntries((of.orderBy ? of.orderBy.fields : []).map((by) => [by.field.value, by.direction && by.direction.value.toLowerCase() === 'desc' ? -1 : 1]));
    return {conditions: of.where ? conditions(of.where) : {}, sort, skip: +query.get('startAt'), limit: +query.get('maxResults')};
  },
};

// What is compared with a number, true or false is that or a text; * at an end is a pattern.
function compared(member, operator, value, pattern) {
  const typed = {true: true, false: false}[value] ?? (/^-?\d+(\.\d+)?$/.test(value) ? +value : value);
  if (!operator && pattern && typeof value === 'string' && value.includes(pattern)) {
    return {[member]: new RegExp('^' + value.split(pattern).map((part) => part.replace(/[^\w\s]/g, '\\$&')).join('.*') + '$')};
  }
  const is = (as) => ({[member]: operator ? {[operator]: as} : as});
  return typed === value ? is(value) : {$or: [is(typed), is(value)]};
}

// OData's parser makes a time of what looks like one.
const timed = (_, value) => /^\d{4}-\d\d-\d\dT/.test(value) ? new Date(value) : value;

const read = readers[process.argv[3]], lists = {};
const listOf = (name) => lists[name] ??= {db: new Nedb(), last: 0};
async function answer(request, body) {
  const url = new URL(request.url, 'http://x'), [, name, id] = url.pathname.split(/[/()]/), list = listOf(name);
  if (request.method === 'POST') {
    const {_id, ...made} = await list.db.insertAsync({id: ++list.last, ...JSON.parse(body, read === readers.odata ? timed : undefined)});
    return [201, made];
  }
  if (id) {
    const found = await list.db.findOneAsync({id: +id}, {_id: 0});
    return found ? [200, found] : [404, {}];
  }
  const {conditions, sort, skip, limit} = read(url.searchParams, url);
  const rows = await list.db.findAsync(conditions, {_id: 0}).sort(sort || {id: 1}).skip(skip || 0).limit(limit || 100);
  const total = await list.db.countAsync(conditions);
  return [200, read === readers.odata ? {'@odata.context': '$metadata#' + name, '@odata.count': total, value: rows} : {values: rows, total}];
}
http.createServer((request, response) => {
  let body = '';
  request.on('data', (chunk) => body += chunk).on('end', () => answer(request, body).catch((e) => [400, {error: String(e && e.message || e)}]).then(([status, of]) => {
    response.writeHead(status, {'Content-Type': 'application/json'});
    response.end(JSON.stringify(of));
  }));
}).listen(+process.argv[2], '127.0.0.1');
