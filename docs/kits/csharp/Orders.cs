// Lists open orders, creates one once, and reads what is wrong with another. Nothing is needed
// but the compiler: mcs -r:System.Net.Http Orders.cs && mono Orders.exe
using System;
using System.Net;
using System.Net.Http;
using System.Text;
using System.Text.RegularExpressions;
using System.Threading.Tasks;

class Frontdesk
{
    readonly HttpClient http = new HttpClient();
    readonly string baseUrl, apiKey, username, password;
    string token = "";

    public Frontdesk(string baseUrl, string apiKey, string username, string password)
    {
        this.baseUrl = baseUrl;
        this.apiKey = apiKey;
        this.username = username;
        this.password = password;
    }

    async Task Login()
    {
        var query = "api_key=" + Uri.EscapeDataString(apiKey) + "&organization_name=&username=" + Uri.EscapeDataString(username) + "&password=" + Uri.EscapeDataString(password);
        var answer = await http.GetAsync(baseUrl + "/authenticate?" + query);
        var body = await answer.Content.ReadAsStringAsync();
        if (!answer.IsSuccessStatusCode) throw new Exception("not logged in: " + body);
        token = Regex.Match(body, "\"token\":\"([^\"]+)\"").Groups[1].Value;
    }

    // Sends a request with the session, and logs in where there is none or it has ended. A
    // request is made anew for the second try, since HttpClient sends none twice.
    public async Task<HttpResponseMessage> Send(HttpMethod method, string path, string body = null, string once = null)
    {
        for (var again = false; ; again = true)
        {
            if (token == "") await Login();
            var request = new HttpRequestMessage(method, baseUrl + path);
            request.Headers.Add("token", token);
            if (once != null) request.Headers.Add("Idempotency-Key", once);
            if (body != null) request.Content = new StringContent(body, Encoding.UTF8, "application/json");
            var answer = await http.SendAsync(request);
            if (answer.StatusCode != HttpStatusCode.Unauthorized || again) return answer;
            token = "";
        }
    }
}

static class Orders
{
    static string Setting(string name, string otherwise) => Environment.GetEnvironmentVariable(name) ?? otherwise;

    static async Task Run()
    {
        var desk = new Frontdesk(Setting("BASE", "http://127.0.0.1:8080/webservice_v2"), Setting("API_KEY", "11111111-1111-4111-8111-111111111111"),
            Setting("FRONTDESK_USER", "demo"), Setting("FRONTDESK_PASSWORD", "demo"));

        var open = await desk.Send(HttpMethod.Get, "/order?order_status=open&total=1&page_size=1&fields=id,number");
        Console.WriteLine("open orders: " + Regex.Match(await open.Content.ReadAsStringAsync(), "\"total\":(\\d+)").Groups[1].Value);

        var once = Guid.NewGuid().ToString();
        var order = "{\"contact_id\":1,\"kind\":\"workshop\",\"order_status\":\"open\",\"order_date\":\"2026-07-01T10:00:00+02:00\"}";
        foreach (var _ in new[] { "sent", "sent again" })
        {
            var made = await desk.Send(HttpMethod.Post, "/order", order, once);
            Console.WriteLine("created " + made.Headers.Location + ", replayed: " + made.Headers.Contains("Idempotent-Replayed"));
        }

        var refused = await desk.Send(HttpMethod.Post, "/order", "{\"contact_id\":1,\"order_date\":\"soon\"}");
        Console.WriteLine("refused with status " + (int)refused.StatusCode);
        foreach (Match m in Regex.Matches(await refused.Content.ReadAsStringAsync(), "{\"message\":\"((?:[^\"\\\\]|\\\\.)*)\",\"reason\":\"(\\w+)\""))
            Console.WriteLine("- " + m.Groups[1].Value + " (" + m.Groups[2].Value + ")");
    }

    static void Main() => Run().GetAwaiter().GetResult();
}
