package remotetest

// What the sample data is made of. Lines of several columns are parted by bars.
var (
	// code, name, dialling prefix, member of the EU, pattern of postcodes
	sampleCountries = []string{
		"AT|Austria|+43|1|^[0-9]{4}$", "BE|Belgium|+32|1|^[0-9]{4}$", "BG|Bulgaria|+359|1|", "CH|Switzerland|+41|0|^[0-9]{4}$",
		"CZ|Czechia|+420|1|", "DE|Germany|+49|1|^[0-9]{5}$", "DK|Denmark|+45|1|^[0-9]{4}$", "EE|Estonia|+372|1|", "ES|Spain|+34|1|^[0-9]{5}$",
		"FI|Finland|+358|1|", "FR|France|+33|1|^[0-9]{5}$", "GB|United Kingdom|+44|0|", "GR|Greece|+30|1|", "HR|Croatia|+385|1|",
		"HU|Hungary|+36|1|", "IE|Ireland|+353|1|", "IT|Italy|+39|1|^[0-9]{5}$", "LT|Lithuania|+370|1|", "LU|Luxembourg|+352|1|^[0-9]{4}$",
		"LV|Latvia|+371|1|", "NL|Netherlands|+31|1|^[0-9]{4} [A-Z]{2}$", "NO|Norway|+47|0|^[0-9]{4}$", "PL|Poland|+48|1|", "PT|Portugal|+351|1|",
		"RO|Romania|+40|1|", "SE|Sweden|+46|1|", "SI|Slovenia|+386|1|", "SK|Slovakia|+421|1|", "TR|Türkiye|+90|0|", "US|United States|+1|0|",
	}

	// code, description, VAT, ledger accounts: domestic, EU, export
	sampleGroups = []string{
		"LABOUR|Workshop labour|high|8000|8001|8002", "PARTS|Parts and materials|high|8010|8011|8012", "TYRES|Tyres and wheels|high|8020|8021|8022",
		"CARS|New and used cars|high|8100|8101|8102", "MARGIN|Used cars under the margin scheme|margin|8110||", "APK|Inspection fees|zero|8300||",
		"LOW|Repairs at the low rate|low|8400|8401|8402", "EXEMPT|Insurance|exempt|8500||",
	}

	// number, description, kind, unit, group, purchase price, price
	sampleArticles = []string{
		"LAB-MEC|Workshop labour|labour|hour|LABOUR||89.50", "LAB-DIA|Diagnostic labour|labour|hour|LABOUR||104.00",
		"LAB-BIKE|Repair of a bicycle|labour|hour|LOW||55.00", "FEE-APK|Inspection fee RDW|external|piece|APK|4.20|4.20",
		"EXT-SPRAY|Spray work by third party|external|piece|PARTS|180.00|225.00", "OIL-5W30|Engine oil 5W-30|part|litre|PARTS|5.85|14.9500",
		"OIL-0W20|Engine oil 0W-20|part|litre|PARTS|7.40|18.5000", "FLT-OIL|Oil filter|part|piece|PARTS|7.1000|12.9500",
		"FLT-AIR|Air filter|part|piece|PARTS|9.80|21.7500", "FLT-CAB|Cabin filter|part|piece|PARTS|8.2550|24.9500",
		"BRK-PADF|Brake pads front|part|set|PARTS|28.60|64.9000", "BRK-PADR|Brake pads rear|part|set|PARTS|24.10|57.5000",
		"BRK-DISC|Brake disc|part|piece|PARTS|31.25|72.0000", "BRK-FLD|Brake fluid DOT 4|part|litre|PARTS|4.90|13.5000",
		"BAT-70|Battery 70 Ah AGM|part|piece|PARTS|96.00|179.0000", "WIP-FR|Wiper blades front|part|set|PARTS|13.40|34.9500",
		"BLB-H7|Bulb H7|part|piece|PARTS|3.15|9.9500", "CLT-G12|Coolant G12|part|litre|PARTS|3.6025|8.9500",
		"TYR-2055516|Tyre 205/55 R16 summer|part|piece|TYRES|58.40|92.5000", "TYR-2254517|Tyre 225/45 R17 summer|part|piece|TYRES|71.90|118.0000",
		"TYR-W2055516|Tyre 205/55 R16 winter|part|piece|TYRES|64.20|101.0000", "TYR-BAL|Fitting and balancing|labour|piece|LABOUR||17.5000",
		"MAT-SMALL|Small materials|part|set|PARTS|1.50|4.5000", "HOSE-08|Fuel hose 8 mm|part|metre|PARTS|2.10|6.2500",
		"AIRCO-GAS|Refrigerant R1234yf|part|kg|PARTS|98.00|185.0000", "TXT-WARR|Under warranty|text|piece|PARTS||0",
	}

	// brand, model, version, body, fuel, transmission, maker's sign
	sampleCars = []string{
		"Volkswagen|Golf|1.5 TSI Life|hatchback|petrol|manual|WVW", "Volkswagen|Polo|1.0 TSI|hatchback|petrol|manual|WVW",
		"Škoda|Octavia Combi|2.0 TDI|estate|diesel|automatic|TMB", "Toyota|Yaris|1.5 Hybrid|hatchback|hybrid|automatic|SB1",
		"Renault|Clio|TCe 90|hatchback|petrol|manual|VF1", "Renault|Zoe|R135|hatchback|electric|automatic|VF1",
		"Peugeot|208|1.2 PureTech|hatchback|petrol|manual|VF3", "Peugeot|3008|1.6 HYbrid|suv|hybrid|automatic|VF3",
		"Opel|Corsa|1.2|hatchback|petrol|manual|W0L", "Opel|Vivaro|2.0 CDTI|van|diesel|manual|W0L", "Ford|Focus|1.0 EcoBoost|hatchback|petrol|manual|WF0",
		"Ford|Transit Custom|2.0 TDCi|van|diesel|manual|WF0", "BMW|3-serie|320i|saloon|petrol|automatic|WBA", "Mercedes-Benz|A-klasse|A 180|hatchback|petrol|automatic|WDD",
		"Volvo|V60|B4|estate|hybrid|automatic|YV1", "Tesla|Model 3|Long Range|saloon|electric|automatic|5YJ", "Kia|Niro|64 kWh|suv|electric|automatic|KNA",
		"Hyundai|i10|1.0|hatchback|petrol|manual|TMA", "Mazda|MX-5|2.0|convertible|petrol|manual|JMZ", "Dacia|Duster|ECO-G 100|suv|lpg|manual|UU1",
	}

	// street, postcode, city
	samplePlaces = []string{
		"Stationsweg|3811 MH|Amersfoort", "Overtoom|1054 GS|Amsterdam", "Coolsingel|3011 AD|Rotterdam", "Oudegracht|3511 AE|Utrecht",
		"Herestraat|9711 LA|Groningen", "Lange Vijverberg|2513 AC|Den Haag", "Markt|5611 EB|Eindhoven", "Vrijthof|6211 LE|Maastricht",
		"Nieuwestad|8911 CN|Leeuwarden", "Langestraat|7511 HA|Enschede", "Grote Markt|4811 XR|Breda", "Kerkstraat|6811 DN|Arnhem",
		"Industrieweg|8263 AA|Kampen", "Havenkade|1781 AA|Den Helder", "'s-Gravelandseweg|1217 EN|Hilversum", "Dorpsstraat|7261 AT|Ruurlo",
	}

	sampleFirst  = []string{"Anna", "Bas", "Carlijn", "Daan", "Eva", "Fatima", "Gerrit", "Hanna", "Joris", "Karim", "Lotte", "Mees", "Noor", "Pieter", "Sanne", "Timo", "Willem", "Yara", "Zoë"}
	sampleLast   = []string{"Bakker", "Bos", "Dekker", "Dijkstra", "Graaf", "Hendriks", "Jansen", "Koning", "Kuipers", "Meijer", "Mulder", "Öztürk", "Peters", "Smit", "Visser", "Vries", "Wit", "Yıldız"}
	sampleTrades = []string{"Bakkerij", "Bouwbedrijf", "Installatietechniek", "Schildersbedrijf", "Taxi", "Transport", "Hoveniersbedrijf", "Autodelen"}
	sampleJobs   = []string{"Workshop planner", "Mechanic", "Mechanic", "Sales", "Bookkeeper"}
	sampleColors = []string{"black", "white", "grey", "blue", "red", "green", "silver"}
)
