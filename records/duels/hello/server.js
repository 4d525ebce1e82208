require('node:http').createServer((request, response) => {
  response.writeHead(request.url === '/hello' ? 200 : 404, {'Content-Type': 'application/json'});
  response.end(request.url === '/hello' ? '{"message":"Hello"}' : '');
}).listen(process.env.PORT);
