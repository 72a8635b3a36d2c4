# In spec/spec_helper.rb, with parallel_tests:
#   number = ENV.fetch("TEST_ENV_NUMBER", "").then { |text| text.empty? ? "1" : text }
#   ENV["DATABASE_URL"] = ENV.fetch("DATABASE_URL_#{number}")
# For config.before(:each), after `tool branch serve shop test --yes --json > .reset.json &`.
require "json"
require "net/http"
require "socket"

def reset_branch(worker, file: ".reset.json")
  socket = Net::BufferedIO.new(UNIXSocket.new(JSON.parse(File.foreach(file).first)["socket"]))
  request = Net::HTTP::Post.new("/reset/#{worker}", "Host" => "localhost", "Content-Length" => "0")
  request.exec(socket, "1.1", request.path)
  answer = Net::HTTPResponse.read_new(socket)
  answer.reading_body(socket, true) { answer.body }
  raise "not reset: #{answer.body}" unless answer.code == "200"
  JSON.parse(answer.body)
end
